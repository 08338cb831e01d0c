"""``python -m companion doctor | run | bench | show | compare | export | reframe | verify``.

Exit codes: 0 done; 1 the doctor found something required missing; 2 a request that cannot be met,
said in one sentence on stderr; 3 a result failed its verification; 130 interrupted.
"""

import logging
import os
import sys
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import typer

from companion import commands, files
from companion.records import runs
from companion.terminal import say

# what it says of a folder for its settings is nothing that a user of these commands asked for
logging.getLogger("matplotlib").setLevel(logging.ERROR)

app = commands.program(no_args_is_help=True, help="Run the experiments of the five reports and handle their records.")


def _stop(message: str, code: int = 2):
    """End with one sentence on stderr."""
    say(f"companion: {' '.join(str(message).split())}", err=True)
    raise typer.Exit(code)


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
        _stop(files.sentence(error))
    except (ValueError, Unavailable, MemoryError) as error:
        _stop(str(error) or "memory ran out; choose a smaller preset")


@app.command()
def doctor() -> None:
    """Say what this machine offers, what it lacks, and the remedy."""
    with _one_sentence():
        from companion.host import doctor as checks

        findings = checks.examine()
        say(*checks.report(findings).split("\n"))
    if not all(finding.ok for finding in findings if finding.required):
        raise typer.Exit(1)


def _list() -> None:
    from companion.experiments import REGISTER, unavailable

    for entry in REGISTER.values():
        reason = unavailable(entry)
        say(f"{entry.id:24s} {entry.item:12s} {entry.title}" + (f"  ({reason})" if reason else ""))


@app.command()
def run(  # noqa: PLR0913 - each is an option of the command line
    experiment: Annotated[str | None, typer.Argument(help="Identifier; --list shows all.")] = None,
    preset: Annotated[str, typer.Option(help="quick, paper or modern.")] = "quick",
    threads: Annotated[int, typer.Option(help="Threads, up to the usable CPUs.")] = 1,
    out: Annotated[Path, typer.Option(help="Folder for the record.")] = Path("."),
    budget: Annotated[float | None, typer.Option(help="Seconds; rounds that do not fit are dropped.")] = None,
    rounds: Annotated[int | None, typer.Option(help="Samples per case.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of states and order.")] = 0,
    ranks: Annotated[int | None, typer.Option(help="Ranks of an MPI program.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds after which an MPI program is given up.")] = None,
    library: Annotated[str | None, typer.Option(help="Which MPI: MPICH or 'Open MPI'.")] = None,
    oversubscribe: Annotated[
        bool, typer.Option("--oversubscribe", help="Take more ranks than four a CPU, as far as memory holds them.")
    ] = False,
    list_all: Annotated[bool, typer.Option("--list", help="List the experiments and stop.")] = False,
) -> None:
    """Run one experiment and write its record."""
    with _one_sentence():
        from companion import experiments

        if list_all:
            return _list()
        if experiment is None:
            raise ValueError("name an experiment; --list shows them")
        asked: dict[str, Any] = {"preset": preset, "threads": threads, "budget": budget, "seed": seed}
        asked |= {"rounds": rounds, "ranks": ranks, "oversubscribe": oversubscribe}
        with files.prepared(out):
            record = experiments.run_record(experiment, **asked, timeout=timeout, library=library)
            path, reasons = runs.keep(record, out)
        for case in record["measurements"]:
            doubt = f"  [{'; '.join(case['flags'].values())}]" if case["flags"] else ""
            times = f"minimum {min(case['samples']):.4g} s, median {median(case['samples']):.4g} s"
            say(f"{case['label']}: {times}{doubt}")
        say(str(path))
        for reason in reasons:
            say(f"not in {out}: {reason}")


@app.command(name="bench")
def measure_all(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments; all that this machine can run if none.")
    ] = None,
    preset: Annotated[str, typer.Option(help="quick, paper or modern.")] = "quick",
    threads: Annotated[int | None, typer.Option(help="Threads; all usable CPUs if not given.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for the records.")] = Path("records"),
    seed: Annotated[int, typer.Option(help="Seed of states and order.")] = 0,
    plan_only: Annotated[
        bool, typer.Option("--plan", help="Say what would be measured, and how long it takes.")
    ] = False,
) -> None:
    """Measure all that this machine can; called again after an interruption, it goes on where it was."""
    with _one_sentence():
        from companion import experiments, suite
        from companion.host import machine

        if preset not in experiments.PRESETS:
            raise ValueError(f"preset = {preset!r} is unknown; choose one of {', '.join(experiments.PRESETS)}")
        threads = machine.usable_cpus() if threads is None else threads
        planned = suite.plan(out, names or [], preset, threads, seed)
        say(*suite.announcement(planned))
        if plan_only or not planned.todo:
            return
        with files.prepared(out):
            outcomes = list(suite.go(planned, out, say))
        missed = [outcome for outcome in outcomes if outcome.error]
        say(f"{len(outcomes) - len(missed)} record(s) written to {out}; python -m companion show RECORD reads one")
        if missed:
            names_missed = ", ".join(outcome.entry.id for outcome in missed)
            unverified = any(outcome.unverified for outcome in missed)
            _stop(f"no record of {names_missed}; the reasons are above", 3 if unverified else 2)


def _differences(a: dict, b: dict) -> list[str]:
    """What besides the times differs between two records, as sentences."""
    from companion.host import machine

    found = []
    for word in ("experiment", "preset", "threads"):
        if a[word] != b[word]:
            found.append(f"{word}: {a[word]} and {b[word]}")
    lines = machine.line(a["machine"]), machine.line(b["machine"])
    if lines[0] != lines[1]:
        found.append(f"machines: {lines[0]} and {lines[1]}")
    versions = [record["machine"].get("software") or {} for record in (a, b)]
    for name in sorted(set(versions[0]) | set(versions[1])):
        if name != "threading_layer" and versions[0].get(name) != versions[1].get(name):
            found.append(f"{name}: {versions[0].get(name)} and {versions[1].get(name)}")
    return found


@app.command()
def compare(a: Path, b: Path) -> None:
    """Times of record B over those of record A, case by case (above 1, A is faster)."""
    with _one_sentence():
        from companion.bench.statistics import ratio

        first, second = runs.read(a), runs.read(b)
        for sentence in _differences(first, second):
            say(f"differs: {sentence}")
        others = {case["label"]: case for case in second["measurements"]}
        matched = [case for case in first["measurements"] if case["label"] in others]
        if not matched:
            raise ValueError(f"{a} and {b} have no case in common, so there is nothing to compare")
        for case in matched:
            other = others.pop(case["label"])
            if case["problem"] != other["problem"] or case["threads"] != other["threads"]:
                say(f"{case['label']}: not compared, the problems or threads differ")
                continue
            doubt = sorted({*case["flags"], *other["flags"]})
            note = f"  [{', '.join(doubt)}]" if doubt else ""
            say(f"{case['label']}: {ratio(case['samples'], other['samples'])}{note}")
        alone = len(first["measurements"]) - len(matched) + len(others)
        if alone:
            say(f"{alone} case(s) stand in one record only")


@app.command()
def show(
    record: Annotated[Path, typer.Argument(help="Run record.")],
    samples: Annotated[bool, typer.Option(help="Print every sample as well.")] = False,
    figures: Annotated[Path, typer.Option(help="Folder for the figures (SVG).")] = Path("figures"),
    draw: Annotated[bool, typer.Option(help="Draw the chapter's figures from the record.")] = True,
) -> None:
    """Print what a record measured, in its units, next to the report's values, and draw the chapter's figures of it."""
    with _one_sentence():
        from companion import comparison
        from companion.records import display

        read = runs.read(record)
        say(*display.text(read, samples=samples).split("\n"))
        found, left = comparison.pieces(read)
        for number, piece in enumerate(found, start=1):
            say("", *f"[{number}] {piece.text}".split("\n"))
        for sentence in left:
            say("", f"not shown: {sentence}")
        if draw and any(piece.svg for piece in found):
            with files.prepared(figures):
                written = comparison.write(read, found, figures)
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
        data = runs.load(records)
        if to.suffix == ".nc":
            files.write_atomically(to, lambda path: files.write_netcdf(data, path), overwrite=force)
        else:
            samples = data.drop_dims(set(data.dims) - {"case", "sample"}).to_dataframe()
            files.write_text(to, samples.dropna(subset=["seconds"]).to_csv(lineterminator="\n"), overwrite=force)
        say(str(to))


@app.command()
def reframe(
    out: Annotated[Path, typer.Option(help="Folder for the two files.")] = Path("."),
    force: Annotated[bool, typer.Option(help="Replace files of these names.")] = False,
    report: Annotated[Path | None, typer.Option(help="Keep what this report of ReFrame says instead.")] = None,
) -> None:
    """Write a ReFrame check file of all MPI experiments, and settings for local, Slurm, PBS and Flux."""
    with _one_sentence():
        from companion.mpi import reframe as checks

        if report is not None:
            say(str(checks.keep(report, out)))
            return
        checks_file, settings = checks.write(out, force)
        say(str(checks_file), str(settings))
        say(f"run with: reframe -C {settings} -c {checks_file} --system rerun:local -n p5plus-exchange -r")


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
