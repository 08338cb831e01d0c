"""Two run records side by side: what differs in how they were made, and the times of cases that are in both.

A case is in both where kernel, problem and threads are the same, whatever its label and the presets of the records.  A
field of the problem that only one of them has counts as its default, since kernels gained fields over time.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product, starmap
from pathlib import Path
from statistics import median
from typing import Any

from supercomputers_rerun.companion.bench import Ratio, ratio
from supercomputers_rerun.companion.common import plain_bytes, plural
from supercomputers_rerun.companion.figures import styled
from supercomputers_rerun.companion.records import runs

Case = dict[str, Any]


def differences(a: dict[str, Any], b: dict[str, Any]) -> list[str]:
    """What besides the times differs between two records, a sentence each."""
    words = ("experiment", "preset", "threads")
    found = [f"{word}: {a[word]} and {b[word]}" for word in words if a[word] != b[word]]
    kinds = ["a browser's" if record.get("kind") == "browser" else "native code" for record in (a, b)]
    if kinds[0] != kinds[1]:
        found.append(" and ".join(kinds))
    here, there = (record["machine"] for record in (a, b))
    if unlike_in := runs.unlike(here, there):
        found.append(f"machines: {runs.label(here)} and {runs.label(there)} ({', '.join(unlike_in)})")
    old, new = here["software"], there["software"]
    for name in sorted(({*old} | {*new}) - {"threading_layer"}):  # which records of old have
        if old.get(name) != new.get(name):
            found.append(f"{name}: {old.get(name)} and {new.get(name)}")
    return found


def _asked(case: Case) -> dict[str, Any]:
    """What was measured: the fields of the problem, its kernel and the threads."""
    return {"kernel": case["kernel"], "threads": case["threads"]} | case["problem"]


def _agree(a: Case, b: Case) -> bool:
    """Whether two cases are alike in every field of the problem that both know, and in all else that was asked."""
    one, other = _asked(a), _asked(b)
    return all(one[name] == other[name] for name in one.keys() & other.keys())


def _alone(a: Case, b: Case) -> list[str]:
    """Fields of the problem that one of two cases does not name: kernels gain and lose fields over time."""
    return sorted(_asked(a).keys() ^ _asked(b).keys())


@dataclass(frozen=True)
class Line:
    """A case of both records."""

    case: str
    ratio: Ratio
    doubts: str


@dataclass(frozen=True)
class Compared:
    """Two records of an experiment."""

    experiment: str
    differences: list[str]
    lines: list[Line]
    left: int  # cases of one record only

    def text(self) -> list[str]:
        """The experiment, what differs, a line for each case of both, and how many are in one only."""
        width = max((len(line.case) for line in self.lines), default=0)
        found = [f"{self.experiment}: B over A, above 1 where A is faster"]
        found += [f"  differs: {each}" for each in self.differences]
        found += [
            f"  {line.case:{width}s}  {line.ratio}" + (f"  [{line.doubts}]" if line.doubts else "")
            for line in self.lines
        ]
        if any(line.doubts for line in self.lines):
            found.append("  in brackets what makes a ratio doubtful; companion show RECORD says it in sentences")
        if not self.lines:
            found.append("  no case in common")
        elif self.left:
            found.append(f"  {plural(self.left, 'case')} in one record only")
        return found

    def rows(self) -> list[dict[str, Any]]:
        """The lines for a program."""
        return [
            {"experiment": self.experiment, "case": line.case}
            | {"minima": line.ratio.minima, "medians": line.ratio.medians}
            | dict(zip(("low", "high"), line.ratio.interval or (None, None), strict=True))
            | {"doubts": line.doubts}
            for line in self.lines
        ]


def both(a: dict[str, Any], b: dict[str, Any]) -> Compared:
    """Times of ``b`` over those of ``a``, for each case of both records."""
    others, found = list(b["measurements"]), []
    for case in a["measurements"]:
        like = [each for each in others if _agree(case, each)]
        if not like:
            continue
        partner = min(like, key=lambda each: (len(_alone(case, each)), each["label"] != case["label"]))
        others.remove(partner)
        unsaid = [f"only one record names {name}" for name in _alone(case, partner)]
        doubt = ", ".join(sorted({*case["flags"], *partner["flags"], *unsaid}))
        found.append(Line(plain_bytes(case["label"]), ratio(case["samples"], partner["samples"]), doubt))
    left = len(a["measurements"]) + len(others) - len(found)
    return Compared(a["experiment"], differences(a, b), found, left)


def _has(side: list[dict[str, Any]], name: str = "") -> str:
    """Experiments and presets of records, in words."""
    presets: dict[str, set[str]] = {}
    for record in side:
        asked = f"{record['preset']}, {plural(record['threads'], 'thread')}"
        presets.setdefault(record["experiment"], set()).add(asked)
    return "; ".join(f"{each} ({' and '.join(sorted(presets[each]))})" for each in presets if name in ("", each))


def compared(a: Path, b: Path) -> list[Compared]:
    """What differs and the times of two records; of two folders, of every experiment in both.

    Of an experiment a folder gives its newest record; where the presets of these differ, the newest of a preset that
    both have. ``ValueError`` where nothing is in both; it says what each side has, and what to run.
    """
    sides = [_by_date(path) for path in (a, b)]
    found = list(starmap(both, _pairs(*sides) if a.is_dir() or b.is_dir() else zip(*sides, strict=True)))
    if any(each.lines for each in found):
        return found
    if not found:
        raise ValueError(
            f"{a} and {b} have no experiment in common, so there is nothing to compare: "
            f"{a} has {_has(sides[0]) or 'none'}, {b} has {_has(sides[1]) or 'none'}"
        )
    record = next(record for record in reversed(sides[0]) if record["experiment"] == found[0].experiment)
    command = f"companion run {record['experiment']} --preset {record['preset']} --threads {record['threads']}"
    raise ValueError(
        f"{a} and {b} have no case in common, so there is nothing to compare: {a} has "
        f"{_has(sides[0], record['experiment'])}, {b} has {_has(sides[1], record['experiment'])}; "
        f"{command} measures the cases of the first"
    )


@dataclass(frozen=True)
class Day:
    """An experiment on one day against the newest record of the same model of processor."""

    experiment: str
    threads: int
    date: str  # of the record, as it stands there
    times: float  # how many times as long as in the stored record, median over the cases of both
    doubtful: bool  # whether most of these cases are flagged in either record


def trend(stored: Path, made: Path) -> list[Day]:
    """Each record in ``made`` against the newest in ``stored`` of its experiment, preset, threads and processor.

    ``ValueError`` where no record of ``made`` has one.
    """
    kept = {_watched(record): record for record in _by_date(stored)}
    days = []
    for record in _by_date(made):
        lines = both(kept[_watched(record)], record).lines if _watched(record) in kept else []
        if lines:
            times = median(line.ratio.medians for line in lines)
            doubtful = 2 * sum(bool(line.doubts) for line in lines) > len(lines)
            days.append(Day(record["experiment"], record["threads"], record["date"], times, doubtful))
    if not days:
        raise ValueError(f"no record in {made} is of an experiment, preset, threads and processor of {stored}")
    return days


def _by_date(path: Path) -> list[dict[str, Any]]:
    """The record in a file, or those in a folder, oldest first."""
    return sorted(map(runs.read, runs.files([path])), key=lambda record: record["date"])


def _watched(record: dict[str, Any]) -> tuple:
    return record["experiment"], record["preset"], record["threads"], record["machine"]["cpu"]["model"]


@styled
def drawn(days: list[Day]):
    """The figure of a trend: a line for each experiment and number of threads, against the day."""
    import pandas as pd
    from matplotlib.dates import ConciseDateFormatter

    from supercomputers_rerun.companion import figures

    frame = pd.DataFrame([vars(day) for day in days]).assign(day=lambda table: pd.to_datetime(table["date"]))
    figure, axis = figures.axes(height=4.2)
    for (name, threads), line in frame.groupby(["experiment", "threads"], sort=False):
        axis.plot(line["day"], line["times"], "o-", label=f"{name}, {plural(threads, 'thread')}")
    axis.axhline(1.0, color=figures.INK, linewidth=0.8)
    doubtful = frame[frame["doubtful"]]
    axis.plot(doubtful["day"], doubtful["times"], "x", color=figures.INK, label="doubtful" if len(doubtful) else None)
    axis.set(ylabel="time over the stored record's, median of cases")
    axis.xaxis.set_major_formatter(ConciseDateFormatter(axis.xaxis.get_major_locator()))
    figures.legend(axis, "below 2")
    sure = [day for day in days if not day.doubtful]
    title = "Most cases of every record are doubtful: measure again on a quiet machine"
    if sure:
        slowest = max(sure, key=lambda day: day.times)
        title = f"The slowest took {slowest.times:.2f} times as long as stored: {slowest.experiment}"
    axis.set_title(title)
    return figures.show(figure, name="trend", title=title, data=frame.drop(columns="day"), alt=title)


def _pairs(a: list[dict[str, Any]], b: list[dict[str, Any]]) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """Of each experiment of both sides the newest records, of equal preset and threads where both have such."""

    def fits(pair: tuple[dict[str, Any], dict[str, Any]]) -> tuple:
        old, new = pair
        return all(old[word] == new[word] for word in ("preset", "threads")), new["date"], old["date"]

    for name in sorted({record["experiment"] for record in a} & {record["experiment"] for record in b}):
        olds, news = ([record for record in side if record["experiment"] == name] for side in (a, b))
        yield max(product(olds, news), key=fits)
