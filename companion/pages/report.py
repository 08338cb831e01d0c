"""``python -m companion report``: one page that sets a reader's machine beside the five reports and the book's runs.

It draws what chapter 6 draws, with the reader's records as one machine more, and the figures of the chapters from these
records.  The page needs no other file and no network.
"""

from collections.abc import Callable, Iterable
from html import escape
from pathlib import Path
from string import Template

import pandas as pd

from companion import experiments, files, record_figures
from companion.figures.rendering import Shown
from companion.figures.tabular import significant, table
from companion.host import machine
from companion.labels import plural
from companion.pages import eras, explored, synthesis
from companion.records import machines, runs

#: Quantities of chapter 6 that the page draws.
AXES = ("file-balance", "computing", "rate", "peak", "hour")
PAGE = Path(__file__).with_name("report.html")
NAME = "index.html"


def _own(frame: pd.DataFrame, words: str = "") -> pd.Series | None:
    """The reader's point whose description holds ``words``; None without."""
    found = frame[(frame["order"] < 0) & frame["what"].str.contains(words, regex=False)]
    return None if found.empty else found.iloc[0]


def _printed(frame: pd.DataFrame, machine_name: str, words: str = "") -> float:
    of_one = frame["machine"].str.startswith(machine_name) & frame["what"].str.contains(words, regex=False)
    return float(frame.loc[of_one & (frame["kind"] == "report"), "value"].iloc[0])


def _said(point: pd.Series, factor: float = 1.0) -> str:
    middle, low, high = (significant(factor * float(point[name]), 3) for name in ("value", "low", "high"))
    return f"{middle} ({low} to {high})"


def _small(point: pd.Series, words: str) -> str:
    """What a reader has to know of a point, and that it is of another size where its preset says so."""
    preset = point["what"].rpartition(", ")[2]
    sized = preset in experiments.PRESETS
    return f"{words} Measured in preset {preset}, not at the size of the report." if sized else words


def _forecast(frame: pd.DataFrame, here: pd.Series) -> tuple[str, str]:
    old = synthesis.DAY * _printed(frame, "Cray 1-A")
    smaller = " of the size of 1982" if "of the size" in here["what"] else " that is smaller than that of 1982"
    sentence = f"A forecast day{smaller} took {_said(here, synthesis.DAY)} s, with work files on this disk."
    return f"{sentence} The Cray 1-A took {old:.0f} s.", "The physics of today's model is simpler."


def _bandwidth(frame: pd.DataFrame, here: pd.Series) -> tuple[str, str]:
    old = significant(_printed(frame, "IBM p575", "streaming loop"), 2)
    return (
        f"One thread reads {_said(here)} GB/s in the streaming loop of 2006. A Power5+ processor read {old} GB/s.",
        "One thread runs alone here. The report gives the rate of a node, which is divided by its 16 processors.",
    )


def _solver(frame: pd.DataFrame, here: pd.Series) -> tuple[str, str]:
    loop = significant(_printed(frame, "IBM p575", "registers"), 2)
    return (
        f"BT, the flow solver of 1993, computes {_said(here)} GFLOPS on one thread. "
        f"A Power5+ processor added {loop} billion numbers a second in registers.",
        _small(here, "No report prints a rate of BT. Operations are counted as the benchmark defines them."),
    )


def _transforms(frame: pd.DataFrame, here: pd.Series) -> tuple[str, str]:
    printed = frame.loc[frame["kind"] == "report", "value"]
    return (
        f"Spectral transforms reach {_said(here)} % of this thread's measured peak. "
        f"The forecasts of 2006 and 2014 reached {printed.min():g} to {printed.max():g} %.",
        _small(here, "Transforms are one part of a forecast and reach a higher share than the whole."),
    )


def _files(frame: pd.DataFrame, here: pd.Series) -> tuple[str, str]:
    old = significant(_printed(frame, "Cray X-MP", "a disk"), 2)
    return (
        f"A program moves {_said(here)} MB/s to and from a disk here. On the Cray X-MP it was {old} MB/s.",
        _small(here, "The transfers bypass the page cache; the disk or its host may have a cache of its own."),
    )


#: In the order of the page: a quantity of chapter 6, words of the reader's point that answers, and what gives the
#: sentence and its caveat from the points and that one.
ANSWERS: tuple[tuple[str, str, Callable], ...] = (
    ("hour", "1982", _forecast),
    ("bandwidth", "", _bandwidth),
    ("rate", "BT", _solver),
    ("peak", "spectral", _transforms),
    ("files", "disk", _files),
)


def _answers(points: dict[str, pd.DataFrame]) -> str:
    items = []
    for key, words, answer in ANSWERS:
        here = _own(points[key], words)
        if here is not None:
            sentence, caveat = answer(points[key], here)
            items.append(f"<li><p>{escape(sentence)}</p><small>{escape(caveat)}</small></li>")
    return "\n".join(items)


def _axes(points: dict[str, pd.DataFrame]) -> list[Shown]:
    """The figures of chapter 6 in which the reader's machine has a point."""
    shown = [eras.files_through_time()] if _own(points["files"]) is not None else []
    for key in AXES:
        if _own(points[key]) is not None:
            name, _, log = explored.QUANTITIES[key]
            title = name[0].upper() + name[1:]
            shown.append(synthesis.dots(points[key], title=title, seen="", name=key, log=log))
    return shown


def _chapters(found: Iterable[str]) -> str:
    """For each report the first figure that the records of these experiments can draw, and the others folded."""
    parts = []
    for document in synthesis.documents():
        of_document = [name for name in found if experiments.REGISTER[name].document == document]
        drawn = [
            shown
            for name in of_document
            for shown in record_figures.drawn_from(runs.own(name)[-1])[0]
            if isinstance(shown, Shown) and "<figure" in shown.html and "<script" not in shown.html  # no explorers
        ]
        if drawn:
            title = f"{synthesis.year(document)}: {synthesis.title(document)}"
            first, *rest = [each.html for each in drawn]
            fold = f"<details><summary>{plural(len(rest), 'other figure')}</summary><div class='figures'>"
            more = f"{fold}{''.join(rest)}</div></details>" if rest else ""
            parts.append(f"<section><h3>{escape(title)}</h3>{first}{more}</section>")
    return "".join(parts)


def newest(folder: Path) -> dict[str, dict]:
    """Experiment -> its newest record in ``folder``, in the order of the register.

    ``ValueError`` where there is none, or they are of several machines.
    """
    found = {
        name: max((record for record, _ in kept), key=lambda record: record["date"])
        for name in experiments.REGISTER
        if (kept := runs.native(name, folder))
    }
    if not found:
        raise ValueError(f"{folder} has no run record; python -m companion bench --out {folder} makes them")
    different = machines.distinct(record["machine"] for record in found.values())
    if len(different) > 1:
        names = " and ".join(machines.labels(different))
        raise ValueError(f"{folder} has records of {names}; a page is of one machine, so give each a folder")
    return found


def html(folder: Path) -> str:
    """The page of the records in ``folder``."""
    found = newest(folder)
    last = max(found.values(), key=lambda record: record["date"])
    with runs.beside(folder):
        points = explored.points()
        axes, chapters = _axes(points), _chapters(found)
    cases = [case for record in found.values() for case in record["measurements"]]
    doubtful = sum(bool(case["flags"]) for case in cases)
    presets = ", ".join(dict.fromkeys(record["preset"] for record in found.values()))
    title = f"{machines.short(last['machine'])} beside five reports, {synthesis.year(synthesis.documents()[0])} to now"
    rows = [
        {"experiment": name, "preset": record["preset"], "threads": record["threads"], "date": record["date"][:10],
         "cases": len(record["measurements"]), "doubtful": sum(bool(case["flags"]) for case in record["measurements"])}
        for name, record in found.items()
    ]  # fmt: skip
    return Template(PAGE.read_text(encoding="utf-8")).substitute(
        title=escape(title),
        measured=escape(
            f"{plural(len(found), 'experiment')} measured on {last['date'][:10]}, preset {presets}. "
            f"{doubtful} of {plural(len(cases), 'case')} are flagged as doubtful. Every result was verified before "
            "and after it was timed. Numbers are medians; in brackets the 95 % interval, or the range of the samples "
            "where there are fewer than six."
        ),
        answers=_answers(points),
        axes="\n".join(shown.html for shown in axes),
        chapters=chapters,
        machine=table(machine.summary(last["machine"]), caption="The machine, as its records describe it").html,
        records=table(pd.DataFrame(rows), caption="The records of this page", index=False, folded=True).html,
    )


def write(folder: Path, out: Path, force: bool = False) -> Path:
    """Write the page of the records in ``folder`` into the folder ``out``."""
    path = out / NAME
    files.write_text(path, html(folder), overwrite=force)
    return path
