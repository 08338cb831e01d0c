"""Tables of the page of peers, and the pairs of the committed peer records that they and the figures show."""

from html import escape

import numpy as np
import pandas as pd

from companion.figures.rendering import csv_link
from companion.figures.tabular import Table, significant, table
from companion.labels import plural
from companion.pages.data import framed, heading, numbers
from companion.records import machines, peer_records

#: Families of kernels by peer module, in the order of the page.
FAMILIES = {
    "spectral": "spectral transforms",
    "bt": "block-tridiagonal solver",
    "gridpoint": "forecast on a grid",
    "dycore": "whole forecasts",
    "analysis": "boxes of the analysis",
    "routines": "IFS routines",
    "cloudsc": "two cloud schemes",
    "imaging": "imaging kernels",
    "smt": "SMT loops",
    "memory": "memory",
    "banks": "simulated memory banks",
    "files": "solution files",
    "blocks": "large blocks",
    "mpi": "messages between ranks",
    "first_calls": "first calls",
}
#: Families whose rows are two rates and no equal answer: they have a table of their own.
RATES = ("cloudsc",)
#: Groups that compare no two codes: in one we do less work than the peer for the same answer, in the other our code
#: stands beside itself.
NO_CODES = ("simulated memory banks, leaping over periods", "our own loops again, one thread a core")
#: Captions of the tables of cases without a peer.
_ALONE = {"first_calls": "What the first call of a process costs, each sample in a process of its own"}
_PARTS = "The parts of our time, each measured alone, with what limits it"
_UNITS = (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6), ("ns", 1e-9))


def sentence(text: str) -> Table:
    # The class keeps the theme from painting the output white on a dark page.
    return Table(f'<p class="rerun-figure">{escape(text)}</p>', text)


def pairs(records, family: str | None = None, vectors: str = peer_records.NATIVE) -> pd.DataFrame:
    """The pairs that count, of one family or all, in the order of measurement; empty without a record.

    ``vectors``: those of both sides' code, the processor's own or for example ``"256-bit"``.
    """
    records = [record for record in records if peer_records.vectors(record) == vectors]
    if not records:
        return pd.DataFrame()
    data = peer_records.newest(peer_records.dataset(records))
    frame = data.to_dataframe().reset_index(drop=True).drop(columns="newest")
    return frame if family is None else frame[frame["module"] == family].reset_index(drop=True)


def summaries(frame: pd.DataFrame) -> list[dict]:
    return peer_records.summary(frame.to_xarray())


def origin(frame: pd.DataFrame) -> str:
    days = sorted({date[:10] for date in frame["date"]})
    return f"{frame['machine'].iloc[0]}\n{days[0] + ' to ' + days[-1] if len(days) > 1 else days[0]}"


def conclusion(records) -> Table:
    """How many cases are faster than the fastest of their peers, in which families most and fewest, and the weakest."""
    frame = pairs(records)
    if frame.empty:
        return sentence("No run of peers is committed.")
    codes = ~frame["module"].isin(RATES) & ~frame["group"].isin(NO_CODES)
    frame = frame[np.isfinite(frame["ratio_fastest"]) & codes].reset_index(drop=True)
    frame = frame.assign(ratio=frame[["ratio_fastest", "ratio_median"]].min(axis=1))
    cases = frame.groupby(["machine", "module", "group", "label", "threads"], sort=False)["ratio"]
    least = frame.loc[cases.idxmin()]
    share = (least["ratio"] > 1).groupby(least["module"]).mean().sort_values()
    low, high = (f"{FAMILIES[share.index[at]]} ({100 * share.iloc[at]:.0f} %)" for at in (0, -1))
    weakest = least.loc[least["ratio"].idxmin()]
    said = sentence(
        f"In {(least['ratio'] > 1).sum()} of {len(least)} cases our kernel took less time than the fastest of its "
        f"peers, by the fastest samples and by the median over rounds. The share is largest for {high} and smallest "
        f"for {low}. The weakest case is {weakest['label']} "
        f"of {weakest['group']}, with {plural(int(weakest['threads']), 'thread')}: {weakest['peer']} took "
        f"{significant(weakest['ratio'], 2)} of our time."
    )
    place = f'<a href="#fig-peers-{weakest["module"].replace("_", "-")}">The weakest case</a>'
    return Table(said.html.replace("The weakest case", place, 1), said.text)


def columns(frame: pd.DataFrame) -> pd.DataFrame:
    """What a figure's CSV holds: every pair with its times, units in the names."""
    units = {name: f"{name} [{unit}]" for name, (unit, _) in peer_records.NUMBERS.items() if unit != "1"}
    first = ["group", "label", "threads", "peer"]
    rest = [*peer_records.NUMBERS, "limit", "chosen", "options", "flags", "vectors", "machine", "date"]
    return frame[first + rest].rename(columns=units)


def time_text(seconds: float) -> str:
    """A time to four digits: 7.856 µs, 12.30 ms, 1.500 s."""
    unit, factor = next((pair for pair in _UNITS if seconds >= pair[1]), _UNITS[-1])
    return f"{significant(seconds / factor, 4)} {unit}"


def _ratio_cell(value: float) -> str:
    """A ratio; below 1 it is set off as the ledger sets off contradictions."""
    if not np.isfinite(value):
        return numbers("–")
    text = significant(float(value), 3)
    if value >= 1:
        return numbers(text)
    return f'<td class="below" style="text-align: right; box-shadow: inset 3px 0 #d55e00"><strong>{text}</strong></td>'


def _limit_cells(line, span: int) -> str:
    """What sets the least time of a case, and its share of our fastest time."""
    name, share = "–", "–"
    if np.isfinite(line.share):
        name, share = escape(line.limit), f"{significant(100 * line.share, 2)} %"
    return f'<td rowspan="{span}">{name}</td><td rowspan="{span}" style="text-align: right">{share}</td>'


def _remark(line) -> str:
    known = f", distance {line.distance:.3g}" if np.isfinite(line.distance) else ""
    other = "" if np.isnan(line.distance) else f"another answer{known}: not timed"
    near = f"answers {line.apart:.1g} apart" if line.apart > 0 else ""
    tried = f"{plural(line.tried, 'slower build')} tried" if line.tried else ""
    way = next((way for way in line.chosen.split("; ") if way.startswith(f"{line.peer}: ")), "")
    return "; ".join(filter(None, (other, line.options, way, near, tried, line.flags)))


def _table_rows(frame: pd.DataFrame) -> list[str]:
    rows, several = [], frame["machine"].nunique() > 1
    for (where, group), part in frame.groupby(["machine", "group"], sort=False):
        rows.append(heading(escape(f"{group}; {where}" if several else group), 7))
        # a peer that was built with other options before has a series of its own, by its record's date
        for (label, threads, _), lines in part.groupby(["label", "threads", "date"], sort=False):
            under = plural(threads, "thread")
            head = (
                f'<td rowspan="{len(lines)}" style="min-width: 8em">{escape(label)}'
                f'<span style="display: block; white-space: nowrap; color: var(--pst-color-text-muted)">'
                f"{under}, {time_text(lines['ours_fastest'].iloc[0])}</span></td>"
            )
            limits = _limit_cells(lines.iloc[0], len(lines))
            for line in lines.itertuples(index=False):
                remark = _remark(line)
                room = ' style="min-width: 14em"' if remark else ""
                rows.append(
                    f'<tr>{head}<td style="white-space: nowrap; padding-left: 0">'
                    f"{escape(line.peer)}</td>{_ratio_cell(line.ratio_fastest)}"
                    f"{_ratio_cell(line.ratio_median)}{limits}<td{room}>{escape(remark)}</td></tr>"
                )
                head = limits = ""
    return rows


def ratios_table(frame: pd.DataFrame, name: str) -> Table:
    """Every ratio of one family: of the fastest samples, and the median over rounds."""
    origins = "; ".join(origin(part).replace("\n", ", ") for _, part in frame.groupby("machine", sort=False))
    caption = (
        f"Every ratio of {FAMILIES[name]}: peer's time over ours, of the fastest samples and as "
        f"median over rounds; below 1, in bold, the peer is faster. Under each case are the threads "
        f"and our fastest time; the limit is what sets the least time on this host, the share that of our "
        f"fastest time. {origins}"
    )
    head = ["case", "peer", "fastest", "median", "limit", "share", "remark"]
    names = ["group", "label", "threads", "peer", "ratio_fastest", "ratio_median", "limit", "share"]
    text = f"{caption}\n{frame[names].to_string(index=False)}"
    # the figures offer it as CSV
    return framed(caption, head, _table_rows(frame), name=f"peers_{name}_ratios", folded=True, text=text)


def rates_table(records, name: str) -> Table:
    """Items and operations a second of either side, of a family in :data:`RATES`; fastest samples."""
    rows = []
    newest = {(line.date, line.label, line.threads) for line in pairs(records, name).itertuples()}
    for record in records:
        for row in record["rows"]:
            if row["module"] != name or (record["date"], row["label"], row["threads"]) not in newest:
                continue
            items, sides = row["items"], {"ours": row["fastest"]}
            sides |= {peer: times["fastest"] for peer, times in row["peers"].items()}
            for side, seconds in sides.items():
                rows.append(
                    {
                        "case": ", ".join(filter(None, (row["label"], row.get("chosen")))),
                        "threads": row["threads"],
                        "side": side,
                        f"{items['name']} a second": items["count"] / seconds,
                        "operations of one": items["flops"][side] / items["count"],
                        "GFLOPS": 1e-9 * items["flops"][side] / seconds,
                        "machine": machines.label(record["machine"]),
                        "date": record["date"][:10],
                    }
                )
    caption = (
        "Two cloud schemes, a rate beside a rate: columns a second of fastest samples. The schemes differ, so the "
        "answers do, and operations are those that each side counts of itself"
    )
    return table(pd.DataFrame(rows), caption=caption, digits=3, index=False, name=f"peers_{name}")


def alone_table(frame: pd.DataFrame, family: str) -> Table:
    """Times of our side where no peer stands beside it: the parts of a kernel with their limits, or first calls."""
    shown = pd.DataFrame(
        {
            "part": frame["group"],
            "case": frame["label"],
            "threads": frame["threads"],
            "fastest": frame["ours_fastest"].map(time_text),
            "median": frame["ours_median"].map(time_text),
            "limit": frame["limit"].replace("", "–"),
            "share": [f"{significant(100 * each, 2)} %" if np.isfinite(each) else "–" for each in frame["share"]],
            "machine": frame["machine"],
            "date": frame["date"].str[:10],
        }
    ).sort_values(["part", "machine"], kind="stable")
    if (shown["limit"] == "–").all():
        shown = shown.drop(columns=["limit", "share"])
    return table(shown, caption=_ALONE.get(family, _PARTS), index=False, name=f"peers_{family}_alone")


def overview(records, vectors: str = peer_records.NATIVE) -> Table:
    """Every group against the fastest peer of each case; one sentence where no record is committed.

    ``vectors``: those of both sides' code, the processor's own or for example ``"256-bit"``.
    """
    frame, native = pairs(records, vectors=vectors), vectors == peer_records.NATIVE
    if not frame.empty:
        frame = frame[~frame["module"].isin(RATES)]
    timed = frame if frame.empty else frame[np.isfinite(frame["ratio_fastest"])].reset_index(drop=True)
    if timed.empty:
        return sentence(
            f"No run together with other software{'' if native else f' in {vectors} builds'} is committed yet, so "
            f"there are no ratios to show; python -m peers{_option(vectors)} --out data/peers makes one."
        )
    found = pd.DataFrame(summaries(timed))
    order = [*FAMILIES, *sorted(set(found["module"]) - set(FAMILIES))]
    found = found.sort_values("module", key=lambda column: column.map(order.index), kind="stable")
    names, rows = ["median", "tenth_percentile", "lowest", "median_of_medians"], []
    for where, part in found.groupby("machine", sort=False):
        rows.append(heading(escape(where), 7))
        for group, lines in part.groupby("group", sort=False):
            head = f'<td rowspan="{len(lines)}">{escape(group)}</td>'
            for line in lines.sort_values("threads").itertuples(index=False):
                ratios = "".join(_ratio_cell(getattr(line, each)) for each in names)
                rows.append(f"<tr>{head}{numbers(line.threads, line.cases)}{ratios}</tr>")
                head = ""
    caption = (
        f"Each group{'' if native else f' in {vectors} builds of both sides'} against the fastest peer of every case: "
        "ratios of the fastest samples, and the median over cases of the medians over rounds; below 1, in bold, the "
        "peer is faster"
    )
    name = "peers_overview" if native else f"peers_overview_{vectors.partition('-')[0]}"
    heads = ["group", "threads", "cases", "median", "10th percentile", "lowest", "median of medians"]
    text = f"{caption}\n{found.to_string(index=False)}"
    return framed(caption, heads, rows, csv_link(found, name), name=name, text=text)


def _option(vectors: str) -> str:
    return "" if vectors == peer_records.NATIVE else f" --vectors {vectors.partition('-')[0]}"


def absent_table(records) -> Table:
    """Peers that could not run, with the reason, by the newest run of each family."""
    found = peer_records.absent(records)
    if not records:
        return sentence("No run is committed, so no peer is absent from one.")
    if not found:
        return sentence("Every peer was present.")
    rows = [
        {
            "peer": item["name"],
            "reason": item["reason"],
            "family": FAMILIES.get(item["module"], item["module"]),
            "threads": ", ".join(map(str, sorted(item["threads"]))),
            "date": item["date"][:10],
            "machine": item["machine"],
        }
        for item in found
    ]
    return table(pd.DataFrame(rows), caption="Peers that could not run, and why", index=False, name="peers_absent")


def runs(records) -> Table:
    """The committed runs, and the versions of the software on either side."""
    if not records:
        return sentence("No run is committed, so there are neither dates nor versions.")
    parts = _runs_table(records), _versions_table(records)
    return Table("".join(part.html for part in parts), "\n\n".join(part.text for part in parts))


def _load(record) -> str:
    """CPUs that others kept busy: ``0.01, 0.08, 0.02``."""
    if "load" not in record:
        return "not recorded"
    return ", ".join("unknown" if cpus is None else f"{cpus:.2f}" for cpus in record["load"].values())


def _runs_table(records) -> Table:
    """When and where the committed runs were made, and how much of each still counts."""
    kept = [pairs(records, vectors=each) for each in dict.fromkeys(map(peer_records.vectors, records))]
    counted = pd.concat(kept)[["date", "machine", "group", "label", "threads"]].drop_duplicates()
    rows = []
    for record in records:
        where, commit = machines.label(record["machine"]), record["machine"]["provenance"]["commit"]
        flagged = sum(bool(row["flags"]) for row in record["rows"])
        remarks = [f"ended early: {record['interrupted']}"] if record["interrupted"] else []
        remarks += [f"{flagged} with other load"] if flagged else []
        here = (counted["date"] == record["date"]) & (counted["machine"] == where)
        rows.append(
            {
                "date": record["date"],
                "machine": where,
                "families": ", ".join(FAMILIES.get(name, name) for name in record["modules"]),
                "threads": ", ".join(map(str, record["threads"])),
                "vectors": peer_records.vectors(record),
                "rounds": record["rounds"],
                "comparisons": len(record["rows"]),
                "newest": int(here.sum()),
                "commit": (commit or "unknown")[:12],
                "load": _load(record),
                "remark": "; ".join(remarks),
            }
        )
    return table(
        pd.DataFrame(rows),
        caption="Committed runs; the column newest counts the comparisons that "
        "no later run on the same machine has replaced, the load is CPUs kept busy by others before, during and "
        "after the run",
        index=False,
        name="peers_runs",
    )


def _versions_table(records) -> Table:
    """Versions and options of our toolchain and of the peers in the committed runs."""
    found: dict[tuple, list[str]] = {}
    for record in records:
        software = record["machine"]["software"] | {"threading_layer": None}
        ours = {name: version for name, version in software.items() if version}
        for side, versions in (("ours", ours | record.get("ours", {})), ("peer", record["peers"])):
            for name, version in versions.items():
                found.setdefault((side, name, version), []).append(record["date"][:10])
    rows = [
        {"side": side, "software": name, "version": version, "runs of": ", ".join(dict.fromkeys(days))}
        for (side, name, version), days in sorted(found.items(), key=lambda item: item[0][0])
    ]
    return table(pd.DataFrame(rows), caption="Versions and options on either side", index=False, name="peers_versions")
