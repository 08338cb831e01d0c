"""``companion report``: one page that sets a reader's machine beside the five reports and the book's runs.

It has figures of the last chapter and of others with the reader's records, and needs no other file and no network.
"""

from collections.abc import Iterable
from html import escape
from pathlib import Path
from statistics import median
from string import Template

import pandas as pd

from supercomputers_rerun.companion import common, experiments, items, models
from supercomputers_rerun.companion.common import plural, significant
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.figures.tabular import table
from supercomputers_rerun.companion.pages import synthesis
from supercomputers_rerun.companion.pages.machines import described
from supercomputers_rerun.companion.records import runs

#: Quantities of the last chapter that the page draws.
AXES = ("computing", "rate", "peak", "hour")
#: What the page says first: a quantity of that chapter, words of the reader's point, the factor to what is said, the
#: printed machine and words of its point, the sentence, and what a reader has to know of it.
ANSWERS = (
    ("hour", "1982", synthesis.DAY, "Cray 1-A", "", "A day of our forecast, made after one of 1982, took "
     "{here} s with work files on this disk. A day of the old one took a Cray 1-A {old} s.",
     "Both with the jobs that follow. Our program has other physics."),
    ("rate", "streams", synthesis.STREAMED, "IBM p575", "streams", "One thread reads {here} GB/s in a loop like the "
     "streaming loop of 2006. In that a Power5+ processor read {old} GB/s with one thread.", "The report gives GFLOPS "
     "of a node, and no length of the array; these are bytes for one of 16 processors."),
    ("rate", "BT", 1, "IBM p575", "registers", "Our version of BT, the flow solver of 1993, computes {here} GFLOPS on "
     "one thread in class W. A Power5+ processor added {old} billion numbers a second in registers, with one thread.",
     "Our texts of the reports have no rate of BT."),
    ("peak", "spectral", 1, "IBM p575 (Power5+)", "", "Our {what} reach {here} % of the peak measured with "
     "it. A forecast on 768 CPUs of the Power5+ reached {old} %.",
     "Eight fields. Transforms are a part of a forecast; a whole one has physics and messages, too."),
    ("files", "disk", 1, "Cray X-MP", "a disk",
     "A program moves {here} MB/s to and from a disk here. On the Cray X-MP of 1982 a similar one moved {old} MB/s.",
     "The transfers bypass the page cache where the system allows it; the disk may have a cache of its own."),
)  # fmt: skip


def _own(frame: pd.DataFrame, words: str = "") -> pd.Series | None:
    """The reader's point whose description holds ``words``; None without."""
    found = frame[(frame["order"] < 0) & frame["what"].str.contains(words, regex=False)]
    return None if found.empty else found.iloc[0]


#: Quantities that are a share of a whole, in per cent.
_SHARES = ("peak", "computing")
#: In place of a number that its record calls doubtful, or of which there is one sample.
DOUBTFUL = "Doubtful: measure again on a quiet machine."
#: The flag of a case that has fewer samples than were wanted; where it has several, their range says what is known.
_FEW = "budget"


def _believed(points: dict[str, pd.DataFrame]) -> tuple[dict[str, pd.DataFrame], list[str]]:
    """The points without the reader's that are a share of more than the whole; a sentence for each of these."""
    kept, refused = {}, []
    for key, frame in points.items():
        wrong = (frame["order"] < 0) & (key in _SHARES) & (frame["value"] > 100)
        kept[key] = frame[~wrong]
        refused += [
            f"{row.what}, {synthesis.QUANTITIES[key][0]}: {significant(float(row.value), 3)} % is more than the whole, "
            "so it is not drawn. What it was divided by was measured while the machine was busy."
            for row in frame[wrong].itertuples()
        ]
    return kept, refused


def _doubted(folder: Path) -> set[str]:
    """Names of the records of a folder that doubt some of their cases for more than few samples."""
    found = (each for name in experiments.REGISTER for each in runs.native(name, folder))
    return {
        path.name for record, path in found if any(case["flags"].keys() - {_FEW} for case in record["measurements"])
    }


def _number(here: pd.Series, factor: float, doubted: set[str]) -> str | None:
    """A point in words, with its range; None where it is doubtful, or one sample, which has no range."""
    if here["flagged"] and here["source"] in doubted or here["low"] == here["high"]:
        return None
    middle, low, high = (significant(factor * float(here[end]), 3) for end in ("value", "low", "high"))
    return f"{middle} ({low} to {high})"


def _answers(points: dict[str, pd.DataFrame], doubted: set[str]) -> str:
    found = []
    for key, words, factor, name, what, sentence, caveat in ANSWERS:
        here, frame = _own(points[key], words), points[key].query("kind == 'report'")
        if here is None:
            continue
        of_old = frame["machine"].str.startswith(name) & frame["what"].str.contains(what, regex=False)
        old = significant(factor * float(frame.loc[of_old, "value"].iloc[0]), 2)
        number, preset = _number(here, factor, doubted), here["what"].rpartition(", ")[2]
        what = here["what"].removesuffix(f", {preset}")
        said = sentence.format(here=number or "…", old=old, what=what)
        if preset in experiments.PRESETS:
            caveat += f" Measured in preset {preset}, not at the size of the report."
        head, mark = ("", "") if number else (f"<strong>{DOUBTFUL}</strong> ", ' class="doubtful"')
        found.append(f"<li{mark}><p>{head}{escape(said)}</p><small>{escape(caveat)}</small></li>")
    return "\n".join(found)


def _axes(points: dict[str, pd.DataFrame]) -> list[Shown]:
    """The figures of the last chapter in which the reader's machine has a point."""
    shown = [synthesis.files_through_time()] if _own(points["files"]) is not None else []
    for key in AXES:
        if _own(points[key]) is not None:
            name, _, log = synthesis.QUANTITIES[key]
            shown.append(synthesis.dots(points[key], title=name.capitalize(), seen="", name=key, log=log))
    return shown


def _titled(shown: Shown, record: dict) -> str:
    """A figure of a record; where that doubts some of its cases, or has one sample each, no title boasts a number."""
    cases = record["measurements"]
    doubted = any(case["flags"].keys() - {_FEW} for case in cases) or all(len(case["samples"]) == 1 for case in cases)
    title = escape(shown.words.title.rstrip("."))
    return shown.html.replace(title, DOUBTFUL.rstrip("."), 1) if title and doubted else shown.html


def _chapters(found: dict[str, dict]) -> str:
    """For each chapter the first figure that the records of these experiments can draw, and the others folded."""
    parts = []
    for document in items.documents():
        drawn = [
            _titled(shown, found[name])
            for name in found
            if experiments.REGISTER[name].document == document
            for shown in experiments.drawn_from(runs.own(name)[-1])[0]
            if "<figure" in shown.html and "<script" not in shown.html  # no explorers
        ]
        if drawn:
            fold = f"<details><summary>{plural(len(drawn) - 1, 'other figure')}</summary><div class='figures'>"
            more = f"{fold}{''.join(drawn[1:])}</div></details>" if drawn[1:] else ""
            parts.append(f"<section><h3>{escape(items.title(document))}</h3>{drawn[0]}{more}</section>")
    return "".join(parts)


def _constants(record: dict | None) -> str:
    """What one call, one load, one message … costs on the reader's machine, where its record is there."""
    if record is None:
        return ""
    said = models.in_words(models.of_record(runs.outputs(record)))
    shown = table(pd.DataFrame(said, columns=["what", "cost"]), caption="Constants of this machine", index=False)
    return f"<h2>What your machine waits for</h2>{shown.html}"


def _busy(found: Iterable[dict], refused: list[str]) -> str:
    """What kept the machine busy, which cases are doubtful, and what is refused: what the page begins with."""
    records = list(found)
    cases = [case for record in records for case in record["measurements"]]
    flagged = [case for case in cases if case["flags"]]
    if not flagged and not refused:
        return ""
    lines = []
    loads = [case["other_load"] for case in cases if "load" in case["flags"] and case["other_load"] is not None]
    cpus = records[-1]["machine"]["usable"]["cpus"]
    if loads:
        lines.append(
            f"This machine was busy: others kept {median(loads):.1f} of its {plural(cpus, 'CPU')} at work (median of "
            f"{plural(len(loads), 'case')}, at most {max(loads):.1f})."
        )
    alone = sum(len(case["samples"]) == 1 for case in cases)
    if flagged:
        again = " End what else runs and measure again: companion bench --out FOLDER." if loads else ""
        lines.append(
            f"{len(flagged)} of {plural(len(cases), 'case')} are flagged, and {plural(alone, 'case')} have one "
            f"sample.{again}"
        )
    rows = "".join(f"<li>{escape(each)}</li>" for each in refused)
    return f'<div class="busy"><p><strong>{escape(" ".join(lines))}</strong></p><ul>{rows}</ul></div>'


def newest(folder: Path) -> dict[str, dict]:
    """Experiment -> its newest record in ``folder``, in the order of the register.

    ``ValueError`` where there is none, or they are of several machines.
    """
    kept = {name: runs.native(name, folder) for name in experiments.REGISTER}
    found = {name: max((one for one, _ in each), key=lambda one: one["date"]) for name, each in kept.items() if each}
    if not found:
        raise ValueError(f"{folder} has no run record; companion bench --out {folder} makes them")
    different = runs.distinct(record["machine"] for record in found.values())
    if len(different) > 1:
        names = " and ".join(map(runs.short, different))
        raise ValueError(f"{folder} has records of {names}; a page is of one machine, so give each a folder")
    return found


def html(folder: Path) -> str:
    """The page of the records in ``folder``."""
    found = newest(folder)
    last = max(found.values(), key=lambda record: record["date"])
    with runs.beside(folder):
        points, refused = _believed(synthesis.every("files", *AXES))
        axes, chapters = _axes(points), _chapters(found)
    rows = pd.DataFrame(
        {"experiment": name, "preset": record["preset"], "threads": record["threads"], "date": record["date"][:10],
         "cases": len(record["measurements"]), "doubtful": sum(bool(case["flags"]) for case in record["measurements"])}
        for name, record in found.items()
    )  # fmt: skip
    measured = (
        f"{plural(len(found), 'experiment')} measured, the last on {last['date'][:10]}, preset "
        f"{', '.join(rows['preset'].unique())}. {rows['doubtful'].sum()} of {plural(rows['cases'].sum(), 'case')} are "
        "flagged as doubtful. Every result was "
        "verified before and after it was timed. Numbers are medians; in brackets the 95 % interval, of two to five "
        "samples their range. What is doubtful, or has one sample, stands without a number."
    )
    about = pd.DataFrame({"value": described(last["machine"])}).rename_axis("property")
    return Template(Path(__file__).with_name("report.html").read_text(encoding="utf-8")).substitute(
        title=escape(f"{runs.short(last['machine'])} beside five reports, 1982 to now"),
        busy=_busy(found.values(), refused),
        measured=escape(measured),
        answers=_answers(points, _doubted(folder)),
        axes="\n".join(shown.html for shown in axes),
        constants=_constants(found.get(models.EXPERIMENT)),
        chapters=chapters,
        machine=table(about, caption="The machine, as its records describe it", index=True).html,
        records=table(rows, caption="The records of this page", index=False, folded=True).html,
    )


def write(folder: Path, out: Path, force: bool = False) -> Path:
    """Write the page of the records in ``folder`` into the folder ``out``."""
    return common.write_text(out / "index.html", html(folder), overwrite=force)
