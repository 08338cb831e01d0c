"""``python -m companion doctor | list | run | bench | report | show | compare | export | contribute | …``.

Exit codes: 0 done; 1 the doctor found something required missing, or a record does not belong to the book; 2 a
request that cannot be met, said in one sentence on stderr; 3 a result failed its verification; 130 interrupted.
"""

import csv
import logging
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from companion import commands, extras, files
from companion.labels import plural
from companion.terminal import is_terminal, say, say_json, say_table

# what it says of a folder for its settings is nothing that a user of these commands asked for
logging.getLogger("matplotlib").setLevel(logging.ERROR)

app = commands.program(
    add_completion=True, no_args_is_help=True, help="Run the experiments of the five reports and handle their records."
)


_stop = partial(commands.stop, "companion")


@contextmanager
def _one_sentence():
    """Turn what a user can cause into one sentence; a defect keeps its traceback."""
    from companion.bench import UnverifiedError
    from companion.experiments import Unavailable
    from companion.mpi import JobError

    try:
        yield
    except UnverifiedError as error:
        _stop(error, 3)
    except JobError as error:
        if error.is_defect:
            say(*error.output.splitlines(), err=True)
        _stop(error)
    except BrokenPipeError:  # whoever read the output has seen enough; nothing is left to flush
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit(0) from None
    except OSError as error:
        _stop(str(error))
    except (ValueError, Unavailable, MemoryError) as error:
        _stop(str(error) or "memory ran out; choose a smaller preset")


def _named(incomplete: str) -> list[str]:
    """Experiments that a shell offers for what was typed, from the register's tables alone, which are quick to read."""
    from companion import chapters

    tables = (path.read_text(encoding="utf-8") for path in chapters.files("experiments.csv").values())
    names = (row["id"] for text in tables for row in csv.DictReader(text.splitlines()))
    return [name for name in names if name.startswith(incomplete)]


JSON = typer.Option("--json", help="Print JSON and nothing else on standard output.")


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        from companion.host import machine

        commit = machine.describe()["provenance"]["commit"]
        say(f"supercomputers-rerun {version('supercomputers-rerun')}" + (f", commit {commit[:12]}" if commit else ""))
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = (False),
) -> None:
    """Run the experiments of the five reports and handle their records."""


@app.command()
def doctor(as_json: Annotated[bool, JSON] = False) -> None:
    """Say what this machine offers, what it lacks, and the remedy."""
    with _one_sentence():
        from companion.host import doctor as checks

        findings = checks.examine()
        if as_json:
            say_json([vars(finding) for finding in findings])
        else:
            say(*checks.report(findings).split("\n"))
    if not all(finding.ok for finding in findings if finding.required):
        raise typer.Exit(1)


@app.command(name="list")
def list_experiments(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments; without any, all.", autocompletion=_named)
    ] = None,
) -> None:
    """List experiments: items of the report, time that each preset takes, and what is missing here."""
    with _one_sentence():
        from companion import experiments, suite

        chosen, rows = [experiments.find(name) for name in names or experiments.REGISTER], []
        for entry in chosen:
            times = ", ".join(f"{preset} {suite.duration(suite.estimate(entry, preset))}" for preset in entry.presets)
            rows.append((entry.id, entry.item, entry.title, times, experiments.unavailable(entry) or ""))
        if is_terminal():
            return say_table(("experiment", "items", "what", "time", "missing here"), rows)
        for name, item, title, times, reason in rows:
            say(f"{name:28s} {item:12s} {title} [{times}]" + (f"  ({reason})" if reason else ""))


@app.command()
def run(
    experiment: Annotated[
        str | None, typer.Argument(help="Its name; the command list shows all.", autocompletion=_named)
    ] = None,
    preset: Annotated[str, typer.Option(help="quick, paper or modern.")] = "quick",
    threads: Annotated[int, typer.Option(help="Threads, up to the usable CPUs.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the record.")] = Path("."),
    budget: Annotated[float | None, typer.Option(help="Seconds for the rounds that fit; 0: one call a case.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Samples per case.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of states and order.")] = 0,
    ranks: Annotated[int | None, typer.Option(help="Ranks of an MPI program.")] = None,
    oversubscribe: Annotated[
        bool, typer.Option("--oversubscribe", help="Accept more than four ranks for each CPU, as far as memory allows.")
    ] = False,
    as_json: Annotated[bool, JSON] = False,
    list_all: Annotated[bool, typer.Option("--list", help="Same as the command list.")] = False,
    plan_only: Annotated[bool, typer.Option("--plan", help="Say whether this machine can run it, and stop.")] = False,
) -> None:
    """Run one experiment, write its record, and set what it measured beside the report's values."""
    with _one_sentence():
        from companion import experiments
        from companion.host import doctor
        from companion.records import display, runs

        if list_all:
            return list_experiments()
        if experiment is None:
            raise ValueError("name an experiment; python -m companion list shows them")
        asked: dict[str, Any] = {"preset": preset, "threads": threads, "budget": budget, "seed": seed}
        asked |= {"rounds": rounds, "ranks": ranks, "oversubscribe": oversubscribe}
        doctor.refuse_windows()
        if plan_only:
            experiments.accept(experiment, **asked)
            return say(f"{experiment} can run here as asked")
        with files.prepared(out):
            record = experiments.run_record(experiment, **asked)
            path, reasons = runs.deposit(record, out)
        if as_json:
            say_json(record)
            return
        if is_terminal():
            rows = (row for case in record["measurements"] for row in display.case_rows(case))
            say_table(display.HEADS, rows, display.NUMBERS)
        else:
            say(*map(display.case_line, record["measurements"]))
        say(*_beside_the_report(record))
        say(str(path))
        for reason in reasons:
            say(f"not in {out}: {reason}")


def _beside_the_report(record: dict[str, Any]) -> Iterator[str]:
    """The chapter's tables of this experiment, the report's values and the run's in columns."""
    if reason := extras.missing(*extras.DRAWING):
        yield f"without the report's values: {reason}"
        return
    from companion import notebook_files, record_figures

    if notebook_files.FOLDER.is_dir():
        for piece in record_figures.pieces(record, drawn=False)[0]:
            yield from ("", *piece.text.split("\n"))


@app.command(name="bench")
def measure_all(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Experiments; without any, all that this machine can run.", autocompletion=_named),
    ] = None,
    preset: Annotated[str, typer.Option(help="quick, paper or modern.")] = "quick",
    threads: Annotated[int | None, typer.Option(help="Threads; without it, all usable CPUs.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the records.")] = Path("records"),
    seed: Annotated[int, typer.Option(help="Seed of states and order.")] = 0,
    minutes: Annotated[
        float | None, typer.Option(min=0, help="Only what fits into so many minutes; the page of report first.")
    ] = None,
    plan_only: Annotated[
        bool, typer.Option("--plan", help="Say what would be measured, and how long it takes.")
    ] = False,
) -> None:
    """Measure all that this machine can; a second call measures only what is still missing."""
    with _one_sentence():
        from companion import experiments, suite
        from companion.host import doctor, machine

        doctor.refuse_windows()
        if preset not in experiments.PRESETS:
            raise ValueError(f"preset = {preset!r} is unknown; choose one of {', '.join(experiments.PRESETS)}")
        threads = machine.usable_cpus() if threads is None else threads
        planned = suite.plan(out, names or [], preset, threads, seed)
        if minutes is not None:
            planned = suite.within(planned, 60 * minutes)
        say(*suite.announcement(planned))
        if plan_only or not planned.todo:
            return
        with files.prepared(out):
            outcomes = list(suite.go(planned, out, say))
        missed = [outcome for outcome in outcomes if outcome.error]
        written = plural(len(outcomes) - len(missed), "record")
        say(f"{written} written to {out}; python -m companion report {out} makes a page of them")
        if missed:
            names_missed = ", ".join(outcome.entry.id for outcome in missed)
            unverified = any(outcome.unverified for outcome in missed)
            _stop(f"no record of {names_missed}; the reasons are above", 3 if unverified else 2)


@app.command()
def report(
    records: Annotated[Path, typer.Argument(help="Folder of run records, as bench writes them.")] = Path("records"),
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("report"),
    force: Annotated[bool, typer.Option(help="Replace the page if it exists.")] = False,
) -> None:
    """Write one page that sets this machine's records beside the five reports and the book's machines."""
    with _one_sentence():
        from companion.pages import report as page

        with files.prepared(out):
            say(str(page.write(records, out, force)))


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="Run record A.")], b: Annotated[Path, typer.Argument(help="Run record B.")]
) -> None:
    """Times of record B over those of record A, case by case (above 1, A is faster)."""
    with _one_sentence():
        from companion import comparison
        from companion.records import runs

        first, second = runs.read(a), runs.read(b)
        say(*(f"differs: {sentence}" for sentence in comparison.differences(first, second)))
        say(*comparison.lines(first, second))


@app.command()
def show(
    record: Annotated[Path, typer.Argument(help="Run record.")],
    samples: Annotated[bool, typer.Option(help="Print every sample as well.")] = False,
    figures: Annotated[Path, typer.Option(help="Folder for the figures (SVG).")] = Path("figures"),
    draw: Annotated[bool, typer.Option(help="Draw the chapter's figures from the record.")] = True,
) -> None:
    """Print what a record measured, in its units, next to the report's values, and draw the chapter's figures of it."""
    with _one_sentence():
        from companion.records import display, runs

        read = runs.read(record)
        say(*display.text(read, samples=samples).split("\n"))
        if reason := extras.missing(*extras.DRAWING):
            return say(f"without the report's values and figures: {reason}")
        from companion import record_figures

        found, left = record_figures.pieces(read)
        for number, piece in enumerate(found, start=1):
            say("", *f"[{number}] {piece.text}".split("\n"))
        for sentence in left:
            say("", f"not shown: {sentence}")
        if draw and any(piece.svg for piece in found):
            with files.prepared(figures):
                written = record_figures.write(read, found, figures)
            say("", *map(str, written))


@app.command()
def export(
    records: Annotated[list[Path], typer.Argument(help="Run records.")],
    to: Annotated[Path, typer.Option(help="File to write: .csv or .nc.")],
    force: Annotated[bool, typer.Option(help="Replace the file if it exists.")] = False,
) -> None:
    """Write records as CSV (one row per sample) or NetCDF."""
    with _one_sentence():
        if to.suffix not in (".csv", ".nc"):
            raise ValueError(f"{to} must end in .csv or .nc")
        from companion.records import runs

        data = runs.load(records)
        if to.suffix == ".nc":
            files.write_netcdf(data, to, overwrite=force)
        else:
            samples = data.drop_dims(set(data.dims) - {"case", "sample"}).to_dataframe()
            files.write_text(to, samples.dropna(subset=["seconds"]).to_csv(lineterminator="\n"), overwrite=force)
        say(str(to))


@app.command()
def contribute(
    records: Annotated[list[Path], typer.Argument(help="Run records, or folders of them.")],
    write: Annotated[bool, typer.Option("--write", help="Copy what belongs to the book into data/runs.")] = False,
) -> None:
    """Say whether records belong to the book, why not, and where they go."""
    with _one_sentence():
        from companion import contribute as rules

        refused = fitting = 0
        for path, record, findings in rules.walk(records):
            say(str(path), *(f"  {'ok' if each.ok else 'NO':4s}{each.what}: {each.said}" for each in findings))
            fit = all(each.ok for each in findings)
            refused, fitting = refused + (not fit), fitting + fit
            if record is not None and fit:
                place = rules.write(record) if write else rules.place(record)
                say(f"  {'written to' if write else 'goes to'} {place.relative_to(rules.ROOT)}")
        if fitting:
            say(*rules.WHAT_FOLLOWS)
    if refused:
        raise typer.Exit(1)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="Solution file of the NHT-1 application I/O benchmark.")],
    diagonal: Annotated[bool, typer.Option(help="Print the diagonal u(i,i,i,m) of every dump.")] = True,
) -> None:
    """Read a solution file of NHT-1 once, print its diagonal and check it."""
    with _one_sentence():
        from companion import experiments

        lines, checks = experiments.verify_file(file)
        if diagonal:
            say(*lines)
        for check in checks:
            say(str(check))
        failed = [check for check in checks if not check.ok]
        if failed:
            _stop(f"{file}: {failed[0]}", 3)
