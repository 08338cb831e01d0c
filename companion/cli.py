"""``python -m companion doctor | list | run | bench | report | show | compare | export | contribute | …``.

Exit codes: 0 done; 1 something required is missing, or a record does not belong to the book; 2 a request that cannot
be met, said in one sentence on stderr; 3 a result failed its verification; 130 interrupted; 143 terminated.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from companion import common
from companion.common import plural


class Companion(TyperGroup):
    """Commands whose refusals are one sentence each."""

    def main(self, *given: Any, **options: Any) -> Any:
        with common.one_sentence("companion"):
            return super().main(*given, **options)


app = typer.Typer(
    cls=Companion, no_args_is_help=True, pretty_exceptions_enable=False, rich_markup_mode=None,
    help="Run the experiments of the five reports and handle their records.",
)  # fmt: skip


def _named(incomplete: str) -> list[str]:
    """Experiments that a shell offers for what was typed."""
    from companion import experiments

    return [name for name in experiments.REGISTER if name.startswith(incomplete)]


JSON = typer.Option("--json", help="Print JSON and nothing else on standard output.")


def _version(asked: bool) -> None:
    if asked:
        from importlib.metadata import version

        from companion.host.machine import git

        commit = git("rev-parse", "HEAD")
        print(f"supercomputers-rerun {version('supercomputers-rerun')}" + (f", commit {commit[:12]}" if commit else ""))
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and stop.")
    ] = False,
) -> None:
    """Run the experiments of the five reports and handle their records."""


@app.command()
def doctor(as_json: Annotated[bool, JSON] = False) -> None:
    """Say what this machine offers, what it lacks, and the remedy."""
    from companion.host import doctor as checks

    findings = checks.examine()
    print(json.dumps([vars(finding) for finding in findings], indent=1) if as_json else checks.report(findings))
    if not all(finding.ok for finding in findings if finding.required):
        raise typer.Exit(1)


@app.command(name="list")
def list_experiments(
    names: Annotated[
        list[str] | None, typer.Argument(help="Experiments; without any, all.", autocompletion=_named)
    ] = None,
) -> None:
    """List experiments: items of the report, time that each preset takes, and what is missing here."""
    from companion import experiments, suite

    for entry in [experiments.find(name) for name in names or experiments.REGISTER]:
        times = ", ".join(f"{preset} {suite.duration(suite.estimate(entry, preset))}" for preset in entry.presets)
        reason = experiments.unavailable(entry)
        print(f"{entry.id:28s} {entry.item:12s} {entry.title} [{times}]" + (f"  ({reason})" if reason else ""))


@app.command()
def run(
    experiment: Annotated[str, typer.Argument(help="Its name; the command list shows all.", autocompletion=_named)],
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
) -> None:
    """Run one experiment, write its record, and set what it measured beside the report's values."""
    from companion import experiments
    from companion.records import runs

    with common.prepared(out):
        record = experiments.run_record(
            experiment, preset, threads, budget, seed, rounds, ranks=ranks, oversubscribe=oversubscribe
        )
        path, reasons = runs.deposit(record, out)
    if as_json:
        return print(json.dumps(record, indent=1, allow_nan=False))
    print(*map(runs.case_line, record["measurements"]), sep="\n")
    print(*_beside_the_report(record), path, *(f"not in {out}: {reason}" for reason in reasons), sep="\n")


def _beside_the_report(record: dict[str, Any]) -> Iterator[str]:
    """The chapter's tables of this experiment, the report's values and the run's in columns."""
    if reason := common.missing(*common.DRAWING):
        yield f"without the report's values: {reason}"
        return
    from companion import experiments
    from companion.records import runs

    yield from (f"\n{shown.text}" for shown in experiments.drawn_from(runs.dataset(record))[0])


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
    from companion import experiments, suite
    from companion.host import machine

    if preset not in experiments.PRESETS:
        raise ValueError(f"preset = {preset!r} is unknown; choose one of {', '.join(experiments.PRESETS)}")
    threads = machine.usable_cpus() if threads is None else threads
    planned = suite.plan(out, names or [], preset, threads, seed)
    if minutes is not None:
        planned = suite.within(planned, 60 * minutes)
    print(*suite.announcement(planned), sep="\n", flush=True)
    if plan_only or not planned.todo:
        return
    with common.prepared(out):
        failed = suite.measure(planned, out, typer.echo)
    written = plural(len(planned.todo) - len(failed), "record")
    print(f"{written} written to {out}; python -m companion report {out} makes a page of them")
    if failed:
        unverified = any(isinstance(error, common.UnverifiedError) for error in failed.values())
        sentence = f"no record of {', '.join(failed)}; the reasons are above"
        common.stop("companion", sentence, 3 if unverified else 2)


@app.command()
def report(
    records: Annotated[Path, typer.Argument(help="Folder of run records, as bench writes them.")] = Path("records"),
    out: Annotated[Path, typer.Option(help="Folder for the page.")] = Path("report"),
    force: Annotated[bool, typer.Option(help="Replace the page if it exists.")] = False,
) -> None:
    """Write one page that sets this machine's records beside the five reports and the book's machines."""
    from companion.pages import report as page

    with common.prepared(out):
        print(page.write(records, out, force))


@app.command()
def compare(
    a: Annotated[Path, typer.Argument(help="Run record A.")], b: Annotated[Path, typer.Argument(help="Run record B.")]
) -> None:
    """Times of record B over those of record A, case by case (above 1, A is faster)."""
    from companion import comparison
    from companion.records import runs

    first, second = runs.read(a), runs.read(b)
    differing = (f"differs: {sentence}" for sentence in comparison.differences(first, second))
    print(*differing, *comparison.lines(first, second), sep="\n")


@app.command()
def show(
    record: Annotated[Path, typer.Argument(help="Run record.")],
    samples: Annotated[bool, typer.Option(help="Print every sample as well.")] = False,
    figures: Annotated[Path | None, typer.Option(help="Folder for the chapter's figures of it (SVG).")] = None,
) -> None:
    """Print what a record measured, in its units, next to the report's values; draw the chapter's figures if asked."""
    from companion.records import runs

    read = runs.read(record)
    print(runs.text(read, samples=samples))
    if reason := common.missing(*common.DRAWING):
        return print(f"without the report's values and figures: {reason}")
    from companion import experiments

    found, left = experiments.drawn_from(runs.dataset(read))
    for number, shown in enumerate(found, start=1):
        print(f"\n[{number}] {shown.text}")
    for sentence in left:
        print(f"\nnot shown: {sentence}")
    if figures and found:
        with common.prepared(figures):
            from companion.figures.rendering import picture

            stem = runs.file_name(read).removesuffix(".json")
            drawn = {figures / f"{stem}_{each.name}.svg": each for each in found if "<svg" in each.html}
            print(
                "", *(common.write_text(path, picture(each), overwrite=True) for path, each in drawn.items()), sep="\n"
            )


@app.command()
def export(
    records: Annotated[list[Path], typer.Argument(help="Run records.")],
    to: Annotated[Path, typer.Option(help="File to write: .csv or .nc.")],
    force: Annotated[bool, typer.Option(help="Replace the file if it exists.")] = False,
) -> None:
    """Write records as CSV (one row per sample), or one as NetCDF."""
    if to.suffix not in (".csv", ".nc") or (to.suffix == ".nc" and len(records) > 1):
        raise ValueError(f"{to} must end in .csv, or in .nc for one record")
    import pandas as pd

    from companion.records import runs

    found = list(map(runs.load, records))
    if to.suffix == ".nc":
        common.write_netcdf(found[0], to, overwrite=force)
    else:
        tables = [data.drop_dims({*data.dims} - {"case", "sample"}).to_dataframe().reset_index() for data in found]
        samples = pd.concat(tables, ignore_index=True).dropna(subset=["seconds"])
        common.write_text(to, samples.to_csv(index=False, lineterminator="\n"), overwrite=force)
    print(to)


@app.command()
def contribute(
    records: Annotated[list[Path], typer.Argument(help="Run records, or folders of them.")],
    write: Annotated[bool, typer.Option("--write", help="Copy what belongs to the book into data/runs.")] = False,
) -> None:
    """Say whether records belong to the book, why not, and where they go."""
    from companion import contribute as rules

    refused = fitting = 0
    for path, record, findings in rules.walk(records):
        print(path, *(f"  {'ok' if each.ok else 'NO':4s}{each.what}: {each.said}" for each in findings), sep="\n")
        fit = all(each.ok for each in findings)
        refused, fitting = refused + (not fit), fitting + fit
        if record is not None and fit:
            place = rules.write(record) if write else rules.place(record)
            print(f"  {'written to' if write else 'goes to'} {place.relative_to(rules.ROOT)}")
    if fitting:
        print(*rules.WHAT_FOLLOWS, sep="\n")
    if refused:
        raise typer.Exit(1)


@app.command()
def verify(
    file: Annotated[Path, typer.Argument(help="Solution file of the NHT-1 application I/O benchmark.")],
    diagonal: Annotated[bool, typer.Option(help="Print the diagonal u(i,i,i,m) of every dump.")] = True,
) -> None:
    """Read a solution file of NHT-1 once, print its diagonal and check it."""
    from companion import experiments

    (check,) = experiments.VERIFIERS
    lines, checks = check(file)
    print(*(lines if diagonal else ()), *checks, sep="\n")
    failed = [each for each in checks if not each.ok]
    if failed:
        common.stop("companion", f"{file}: {failed[0]}", 3)
