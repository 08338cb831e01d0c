"""The page of peers: our kernels beside other software, from the committed records of kind "peer"."""

import re
from html import escape
from itertools import groupby
from typing import Any

import numpy as np
import pandas as pd

from supercomputers_rerun.companion import models
from supercomputers_rerun.companion.common import plural, significant
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.figures.tabular import table
from supercomputers_rerun.companion.records import runs

#: What the peer modules compare, by name.
TITLES = {
    "spectral": "Spectral transforms",
    "bt": "Block-tridiagonal solver",
    "dycore": "Whole forecasts",
    "analysis": "Boxes of the analysis",
    "imaging": "Imaging kernels",
    "smt": "SMT loops",
    "memory": "Memory",
    "mpi": "Messages between ranks",
}
#: Families whose sides do unequal work, by host and family: their records stay, and the page leaves them out.
UNEQUAL = re.compile(r"B transposition, ")
#: What is known where a peer is faster, by a pattern of host, module, family and case; {apart} is how far two builds or
#: ways of a program are apart in one of these cases.
CAUSES = {
    "F memory stride": "Of C, a trial before the timing chose two of 6 to 9 builds, and the better time of the two "
    "counts.",
    "F mpi ": "Both sides make the same calls of the MPI library on the same buffers, and two builds of the one loop "
    "in C are up to {apart} apart by the fastest samples.",
    "B mpi exchange.*shorter messages": "Our side called the library through mpi4py then, and C called it directly.",
}
_C = ("gcc", "clang", "cc")


def _time(side: dict[str, Any], which: str) -> float:
    """The ``"fastest"`` sample or the ``"median"``; records without samples observed both."""
    if side["samples"]:
        return float(np.min(side["samples"]) if which == "fastest" else np.median(side["samples"]))
    return side["observed"][which][0]


def _program(peer: str) -> str:
    """The program that a peer is a build or a call of."""
    first = re.split(r"[ ,]", peer)[0]
    return "C" if first in _C else first


def _host(record: dict[str, Any]) -> str:
    """The machine's letter, or its processor where it has none, and vectors that are not the processor's own."""
    label = re.sub(r"^([A-Z]) \(.*", r"\1", runs.label(record["machine"], runs.PEERS))
    return label if record["preset"] == "native" else f"{label}, {record['preset']} vectors"


def _version(record: dict[str, Any], peer: str) -> str:
    """Version and build of a peer; ways of calling one program share it, if their names begin with its."""
    known = [name for name in record["software"] if peer.startswith(name)]
    return record["software"][max(known, key=len)] if known else "version not recorded"


def _case(side: dict[str, Any]) -> tuple:
    return side["parameters"]["family"], side["parameters"]["case"], side["threads"]


def ratios(records, module: str) -> pd.DataFrame:
    """Every ratio that counts of a module: of each case, number of threads and host those of the newest record."""
    newest: dict[tuple, list[dict[str, Any]]] = {}
    for record in records:  # oldest first
        if record["item"] != module:
            continue
        host = _host(record)
        for key, group in groupby(record["measurements"], _case):
            sides = {side["parameters"]["side"]: side for side in group}
            ours = sides.pop("ours")
            newest[host, key] = [
                {
                    "family": key[0],
                    "size": key[1],
                    "threads": key[2],
                    "host": host,
                    "ours [s]": _time(ours, "fastest"),
                    "peer": name,
                    "version and build": _version(record, name),
                    "fastest": _time(side, "fastest") / _time(ours, "fastest"),
                    "median": _time(side, "median") / _time(ours, "median"),
                    "distance": next((check["value"] for check in side["checks"]), None),
                    "chosen": ours["parameters"].get("chosen", ""),
                    "date": record["date"],
                }
                for name, side in sides.items()
                if not UNEQUAL.match(f"{host} {key[0]}")
            ]
    return pd.DataFrame([row for rows in newest.values() for row in rows])


def _best(frame: pd.DataFrame) -> pd.DataFrame:
    """Of each program the fastest build or call in every case."""
    by = ["family", "size", "threads", "host", frame["peer"].map(_program)]
    chosen = frame.loc[frame.groupby(by, sort=False)["fastest"].idxmin()]
    places = {name: number for number, name in enumerate(frame["family"].unique())}
    return chosen.assign(place=chosen["family"].map(places)).sort_values(["place", "host"], kind="stable")


def _under(frame: pd.DataFrame) -> pd.DataFrame:
    return frame[(frame["fastest"] < 1) | (frame["median"] < 1)]


def _ratio(value: float) -> str:
    """A ratio; below 1 it is set off as the ledger sets off contradictions."""
    text = significant(float(value), 3)
    return text if value >= 1 else f'<strong class="below">{text}</strong>'


def causes(every: pd.DataFrame, module: str) -> list[str]:
    """A sentence for the rows under 1 of which something is known, from all :func:`ratios` of a module."""
    rows, found = _under(_best(every)), []
    names = rows["host"] + f" {module} " + rows["family"] + ": " + rows["size"]
    for pattern, sentence in CAUSES.items():
        fits = rows[names.str.match(pattern)]
        if len(fits):
            families = "; ".join(fits["family"].unique())
            builds = every[(every["host"] == pattern[0]) & every["family"].isin(fits["family"])]
            spread = builds.groupby(["family", "size", "threads"])["fastest"].agg(lambda each: each.max() / each.min())
            said = sentence.format(apart=f"{100 * (spread.max() - 1):.0f} %")
            found.append(f"Machine {pattern[0]}, {plural(len(fits), 'row')} under 1 ({families}): {said}")
    return found


def family(records, module: str) -> Shown:
    """The comparisons of one of :data:`TITLES` as a table, and what is known of the rows under 1."""
    every = ratios(records, module)
    if every.empty:
        text = f"No committed run has measured this ({TITLES[module]}); make peers ARGS={module} does."
        return Shown(f"<p>{escape(text)}</p>", text)
    frame = _best(every)
    caption = (
        f"{TITLES[module]} beside other software: in {plural(len(frame), 'row')} the peer's time over ours, of the "
        f"fastest samples and of the medians; {plural(len(_under(frame)), 'row')} with a ratio below 1, in bold"
    )
    times = frame["ours [s]"].map(lambda seconds: models.spoken(seconds, "s", 4).replace(" ", "\N{NO-BREAK SPACE}"))
    texts = {"ours": times} | {way: frame[way].map(_ratio) for way in ("fastest", "median")}
    columns = ["family", "size", "threads", "host", "ours", "peer", "version and build", "fastest", "median"]
    shown = table(
        frame.assign(**texts)[columns].reset_index(drop=True),
        caption=caption,
        name=f"peers_{module}",
        folded=len(frame) > 40,
        html=("fastest", "median"),
        over="family",
        data=every,
    )
    said = causes(every, module)
    items = "".join(f"<li>{escape(each)}</li>" for each in said)
    return Shown(f"{shown.html}<ul>{items}</ul>" if said else shown.html, "\n".join([shown.alt, *said]))


def _least(records, module: str) -> pd.DataFrame:
    """The lowest ratio of each case of a module to any peer, of fastest samples or of medians."""
    every = ratios(records, module)
    if every.empty:
        return every
    least = every.assign(least=every[["fastest", "median"]].min(axis=1))
    return least.groupby(["host", "family", "size", "threads"])["least"].min().reset_index()


def learned(records) -> Shown:
    """What was learned by losing, a lesson a paragraph."""
    loops, memory, fields, messages = (_least(records, name) for name in ("smt", "memory", "spectral", "mpi"))
    behind, short = memory[memory["least"] < 1], memory[memory["size"].str.startswith("16 KiB, stride 1024")]
    close = int((behind["least"] > 0.9).sum())
    one, eight = (fields.loc[fields["family"].str.contains(f"full grid, {many}"), "least"] for many in ("one", "eight"))
    exchanged = messages[messages["family"].str.contains("exchange.*shorter")]
    called, direct = (exchanged.loc[exchanged["host"] == host, "least"].median() for host in "BF")
    solver = _least(records, "bt")
    whole = solver.loc[solver["family"].str.startswith("BT whole run"), "least"]
    slower = loops[loops["least"] < 1]
    assert loops["least"].min() > 0.9 and len(slower) > 0.8 * len(loops)
    assert close > 0.8 * len(behind) and whole.min() > 1
    assert short["least"].min() < 0.5 and one.median() < 1.1 < eight.median() and called < 0.75 < 0.9 < direct
    assert short["least"].min() == min(part["least"].min() for part in (loops, memory, fields, messages, solver))
    most = f"all {len(loops)}" if len(slower) == len(loops) else f"{len(slower)} of {len(loops)}"
    lessons = {
        "A near tie has a loser.": f"In {most} cases of the five loops C is ahead, by less than a tenth, "
        "though both sides are the same few lines. We count the peer's better build and the lower of its two ratios "
        "(of fastest samples, of medians), so that equal code loses by a little. That is not the whole distance: the "
        f"lowest ratio is {loops['least'].min():.2f}. Of {len(behind)} cases of memory in which a peer is ahead, it is "
        f"ahead by less than a tenth in {close}.",
        "What stands around a loop can cost more than the loop.": "We lose most, down to a ratio of "
        f"{short['least'].min():.3g}, where one pass over 16 KB reads only every 1024th number. Probably a cost that "
        "each pass pays once decides there (not measured), like the fixed cost at Pittsburgh in chapter 2.",
        "A call through Python has its price.": f"Short messages had a ratio of {called:.2f} in the median while our "
        f"side called the library through Python. On another machine, where both sides call the library directly, the "
        f"ratio is {direct:.2f}: calls × latency, as in chapter 3.",
        "Reuse wins, and a single field offers none.": "For eight fields at once our transforms have a median ratio of "
        f"{eight.median():.2f} to the fastest library on full grids; for one field it is {one.median():.2f}. Probably "
        "because one pass over the Legendre functions then serves eight fields (not measured).",
        "Look for the wait before you tune.": "Whole runs of the flow solver are ahead of every build of NPB, and yet "
        "far from the peak. We looked for memory and found instructions: the search stands below its table.",
    }
    html = "".join(
        f'<p class="rerun-paragraph"><strong>{escape(head)}</strong> {escape(rest)}</p>'
        for head, rest in lessons.items()
    )
    return Shown(html, "\n".join(f"{head} {rest}" for head, rest in lessons.items()))


def _times(records, module: str, family: str, program: str) -> str:
    """How many times our time a ``program`` takes in the cases of a ``family``, from the least to the most: on machine
    F, with one thread, its fastest build by the fastest samples."""
    best = _best(ratios(records, module))
    fits = (best["host"] == "F") & (best["threads"] == 1) & (best["family"].str.fullmatch(family))
    found = best.loc[fits & (best["peer"].map(_program) == program), "fastest"]
    assert len(found), f"no record of {program}, {family}"
    low, high = (significant(float(value), 2) for value in (found.min(), found.max()))
    return low if low == high else f"{low} to {high}"


def beside_vectors(records) -> str:
    """BT, which is written in vectors as values, beside other software."""
    published, tuned = (_times(records, "bt", f"BT whole run{which}", "NPB") for which in ("", ", tuned builds"))
    every = ratios(records, "bt")
    whole = (every["host"] == "F") & (every["threads"] == 1) & every["family"].str.startswith("BT whole run")
    classes = sorted({*every.loc[whole, "size"].str.split(r"[ ,]").str[1]}, key="SWABC".index)
    named = f"class{'es' if len(classes) > 1 else ''} {', '.join(classes)}"
    return (
        f"Of the flow solver BT, which is written so, a whole run ({named}) takes the NAS Parallel Benchmarks "
        f"{published} times as long as ours, and their tuned builds {tuned} times. The times are the fastest of one "
        "thread on machine F."
    )


def beside_transforms(records) -> str:
    """Our transforms on full grids beside two libraries."""
    ducc0, shtns = (
        [_times(records, "spectral", f".*full grid, {many}", program) for many in ("one field", "eight fields")]
        for program in ("ducc0", "SHTns")
    )
    every = ratios(records, "spectral")
    here = (every["host"] == "F") & (every["threads"] == 1) & every["family"].str.contains("full grid, (?:one|eight)")
    truncations = sorted({*every.loc[here, "size"].str.split().str[0]}, key=lambda name: int(name[1:]))
    said = f"{truncations[0]} to {truncations[-1]}"
    return (
        f"On full grids ducc0 takes {ducc0[0]} times as long as our transforms of one field, and {ducc0[1]} times as "
        f"long as those of eight at once. SHTns takes {shtns[0]} and {shtns[1]} times as long; below 1 it is faster "
        f"than we are. The times are the fastest of one thread on machine F, the least and the most of {said}."
    )


def conclusion(records) -> Shown:
    """In how many cases ours is the fastest, a row for each module of all hosts together."""
    found = {title: _least(records, module) for module, title in TITLES.items()}
    parts = {title: part for title, part in found.items() if len(part)}
    rows = []
    for title, part in parts.items():
        row = {"kernels": title, "hosts": ", ".join(sorted({host[0] for host in part["host"]})), "cases": len(part)}
        row["we are faster"] = int((part["least"] > 1).sum())
        rows.append(row | {"median": part["least"].median(), "lowest": part["least"].min()})
    counts = pd.DataFrame(rows)[["we are faster", "cases"]].sum()
    caption = (
        f"Ours is the fastest in {counts['we are faster']} of {counts['cases']} cases, counted for every machine and "
        "number of threads. The lowest ratio to any peer, of fastest samples or of medians, decides: above 1 we are "
        "faster; median and lowest are of these"
    )
    data = pd.concat(parts, names=["kernels"]).reset_index(level=0)
    return table(pd.DataFrame(rows), caption=caption, digits=3, index=False, name="peers_overview", data=data)
