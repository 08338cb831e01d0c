"""``companion doctor | list | run | bench | report | show | compare | contribute | verify``.

Exit codes: 0 done; 1 something required is missing, or a record does not belong to the book; 2 a request that cannot
be met, said in one sentence on stderr; 3 a result failed its verification; 130 interrupted; 143 terminated.
"""

import os
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import redirect_stdout
from itertools import groupby
from pathlib import Path
from typing import Any

from supercomputers_rerun.companion import common
from supercomputers_rerun.companion.common import plural


def doctor() -> None:
    """Say what this machine offers, what it lacks, and the remedy."""
    from supercomputers_rerun.companion import host, models

    findings = [check() for check in host.CHECKS]
    print(host.report(findings), *models.here(Path("records")), sep="\n")
    if not all(finding.ok for finding in findings if finding.required):
        raise SystemExit(1)


def list_experiments(names: list[str]) -> None:
    """List experiments by chapter: items of the report, time that each preset takes, and what is missing here."""
    from supercomputers_rerun.companion import experiments, suite, tables

    found = [experiments.find(name) for name in names or experiments.REGISTER]
    for number, (document, entries) in enumerate(groupby(found, key=lambda entry: entry.document)):
        of = tables.citation(document) if document in tables.documents() else "what the models of the book need"
        print("\n" * (number > 0) + f"{document}: {of}")
        for entry in entries:
            times = ", ".join(f"{preset} {suite.duration(suite.estimate(entry, preset))}" for preset in entry.presets)
            reason = experiments.unavailable(entry)
            print(f"  {entry.id:28s} {entry.item:12s} {entry.title} [{times}]" + (f"  ({reason})" if reason else ""))
    print(*experiments.BROKEN.values(), sep="\n", file=sys.stderr, end="\n" * bool(experiments.BROKEN))


def run(out: Path, experiment: str, **asked: Any) -> None:
    """Run one experiment, write its record, and set its median beside the report's number."""
    from supercomputers_rerun.companion import experiments
    from supercomputers_rerun.companion.records import runs

    with common.prepared(out):
        record = experiments.run_record(experiment, **asked)
        path, reasons = runs.deposit(record, out)
    print(*map(runs.case_line, record["measurements"]), *(f"not in {out}: {reason}" for reason in reasons), sep="\n")
    print(*_in_short(record), f"record    {path}", sep="\n")


def _in_short(record: dict[str, Any]) -> Iterator[str]:
    """What was measured, its median, the report's number beside it and their ratio, a line each."""
    from supercomputers_rerun.companion.records import runs

    cases, ranks = record["measurements"], record["machine"].get("mpi", {}).get("ranks")
    by = plural(ranks, "rank") if ranks else plural(record["threads"], "thread")
    about = f"{record['experiment']}, {record['preset']}, {by}, {plural(len(cases), 'case')}"
    yield f"measured  {record['title']} ({about})"
    reason, beside = common.missing(*common.DRAWING), ()
    if not reason:
        from supercomputers_rerun.companion import experiments

        shown = experiments.drawn_from(runs.dataset(record))[0]
        beside = next((each.beside for each in shown if getattr(each, "beside", ())), ())
        reason = "no printed number stands beside it in a figure of this experiment"
    here, report, ratio = beside or (runs.median_line(cases[0]) if cases else "a model gives no time", reason, "none")
    yield from (f"median    {here}", f"report    {report}", f"ratio     {ratio}")


def bench(
    names: list[str], preset: str, threads: int | None, out: Path, seed: int, minutes: float | None, plan: bool
) -> None:
    """Measure all that this machine can; a second call measures only what is still missing."""
    from supercomputers_rerun.companion import experiments, host, suite

    if preset not in experiments.PRESETS:
        raise ValueError(f"preset = {preset!r} is unknown; choose one of {', '.join(experiments.PRESETS)}")
    planned = suite.plan(out, names, preset, host.usable_cpus() if threads is None else threads, seed)
    if minutes is not None:
        planned = suite.within(planned, 60 * minutes)
    print(*suite.announcement(planned), sep="\n", flush=True)
    if plan or not planned.todo:
        return
    with common.prepared(out):
        failed = suite.measure(planned, out)
    written = plural(len(planned.todo) - len(failed), "record")
    print(f"{written} written to {out}; companion report {out} makes a page of them")
    if failed:
        unverified = any(isinstance(error, common.UnverifiedError) for error in failed.values())
        sentence = f"no record of {', '.join(failed)}; the reasons are above"
        common.stop("companion", sentence, 3 if unverified else 2)


def report(records: Path, out: Path, force: bool) -> None:
    """Write one page that sets this machine's records beside the five reports and the book's machines."""
    common.require(*common.DRAWING)
    from supercomputers_rerun.companion.pages import report as page

    with common.prepared(out):
        print(page.write(records, out, force))


def compare(a: Path, b: Path) -> None:
    """Times of record B over those of record A, case by case (above 1, A is faster); of folders, the newest records."""
    from supercomputers_rerun.companion import comparison

    for lines in comparison.compared(a, b):
        print(*lines, sep="\n")


def show(record: Path) -> None:
    """Print what a record measured, in its units, next to the report's values."""
    from supercomputers_rerun.companion.records import runs

    read = runs.read(record)
    print(runs.text(read))
    if reason := common.missing(*common.DRAWING):
        return print(f"without the report's values: {reason}")
    from supercomputers_rerun.companion import experiments

    found, left = experiments.drawn_from(runs.dataset(read))
    for number, shown in enumerate(found, start=1):
        print(f"\n[{number}] {shown.text}")
    for sentence in left:
        print(f"\nnot shown: {sentence}")


def contribute(records: list[Path], write: bool) -> None:
    """Say whether records belong to the book, why not, and where they go."""
    from supercomputers_rerun.companion import contribute as rules
    from supercomputers_rerun.companion.records import runs

    refused = False
    for path in runs.files(records):
        try:
            record = runs.read(path)
            wrong = rules.reasons(record)
        except ValueError as error:
            wrong = [str(error)]
        refused |= bool(wrong)
        print(path, *(f"  NO  {each}" for each in wrong), sep="\n")
        if not wrong:
            name = rules.write(record).name if write else runs.file_name(record)
            print(f"  of {runs.label(record['machine'])}; {'written' if write else 'goes'} to data/runs/{name}")
    if refused:
        raise SystemExit(1)


def verify(file: Path, diagonal: bool) -> None:
    """Read a solution file of NHT-1 once, print its diagonal and check it."""
    from supercomputers_rerun.companion import experiments

    (check,) = experiments.VERIFIERS
    lines, checks = check(file)
    print(*(lines if diagonal else ()), *checks, sep="\n")
    failed = [each for each in checks if not each.ok]
    if failed:
        common.stop("companion", f"{file}: {failed[0]}", 3)


def _version() -> str:
    from importlib.metadata import version

    from supercomputers_rerun.companion.host import git

    commit = git("rev-parse", "HEAD")
    return f"supercomputers-rerun {version('supercomputers-rerun')}" + (f", commit {commit[:12]}" if commit else "")


def _parser() -> common.Parser:
    parser = common.Parser("companion", description="Run the experiments of the five reports and handle their records.")
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="companion")

    def command(function: Callable, name: str = "") -> Callable:
        about = function.__doc__ or ""
        made = commands.add_parser(name or function.__name__, help=about.rstrip("."), description=about)
        made.set_defaults(function=function)
        return made.add_argument

    quick = {"default": "quick", "help": "quick, paper or modern; without it, %(default)s"}
    seed: dict[str, Any] = {"type": int, "default": 0, "help": "seed of states and order"}
    command(doctor)
    add = command(list_experiments, "list")
    add("names", nargs="*", metavar="NAME", help="experiments; without any, all")
    add = command(run)
    add("experiment", help="its name; the command list shows all")
    add("--preset", **quick)
    add("--threads", type=int, default=1, help="threads, up to the usable CPUs")
    add("--out", type=Path, default=Path("."), help="folder for the record")
    add("--budget", type=float, help="seconds for the rounds that fit; 0: one call a case")
    add("--rounds", type=int, help="samples per case")
    add("--seed", **seed)
    add("--ranks", type=int, help="ranks of an MPI program")
    add("--oversubscribe", action="store_true", help="accept more than four ranks for each CPU, as memory allows")
    add = command(bench)
    add("names", nargs="*", metavar="NAME", help="experiments; without any, all that this machine can run")
    add("--preset", **quick)
    add("--threads", type=int, help="threads; without it, all usable CPUs")
    add("--out", type=Path, default=Path("records"), help="folder for the records; without it, %(default)s")
    add("--seed", **seed)
    add("--minutes", type=float, help="only what fits into so many minutes; the page of report first")
    add("--plan", action="store_true", help="say what would be measured, and how long it takes")
    add = command(report)
    add("records", type=Path, nargs="?", default=Path("records"), help="folder of run records, as bench writes them")
    add("--out", type=Path, default=Path("report"), help="folder for the page; without it, %(default)s")
    add("--force", action="store_true", help="replace the page if it exists")
    add = command(compare)
    add("a", type=Path, metavar="A", help="run record, or a folder of them")
    add("b", type=Path, metavar="B", help="run record, or a folder of them")
    add = command(show)
    add("record", type=Path, help="run record")
    add = command(contribute)
    add("records", type=Path, nargs="+", metavar="RECORD", help="run records, or folders of them")
    add("--write", action="store_true", help="copy what belongs to the book into data/runs")
    add = command(verify)
    add("file", type=Path, help="solution file of the NHT-1 application I/O benchmark")
    add("--no-diagonal", dest="diagonal", action="store_false", help="leave out the diagonal u(i,i,i,m) of every dump")
    return parser


def app(given: Sequence[str] | None = None) -> None:
    """Do what ``given`` asks, by default the command line; a refusal is one sentence."""
    with common.one_sentence("companion"), redirect_stdout(common.Printed(sys.stdout)):
        try:
            parser = _parser()
            asked = vars(parser.parse_args(given))
            function = asked.pop("function", None)
            if asked.pop("version"):
                print(_version())
            elif function is None:
                parser.print_help()
            else:
                function(**asked)
        finally:
            sys.stdout.flush()  # of a full disk one sentence, too


def _require_streams() -> None:
    """Streams that were closed when the program started lead nowhere: else the next file opened would take their place,
    and what libraries and other programs print would go into it."""
    for name in ("stdin", "stdout", "stderr"):
        if getattr(sys, name) is None:
            handle = os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, open(handle, "r" if name == "stdin" else "w", encoding="utf-8"))  # noqa: SIM115


def main() -> None:
    """Entry point; SIGTERM ends a command as Ctrl-C does, through every ``finally``, and both say so by its status."""
    stopped: list[int] = []

    def stop(number, frame):
        stopped.append(number)
        raise KeyboardInterrupt if number == signal.SIGINT else SystemExit(128 + number)

    signal.signal(signal.SIGTERM, stop)
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # a shell may let it be ignored
        signal.signal(signal.SIGINT, stop)
    _require_streams()
    try:
        app()
    except BaseException:  # within a lock, the end may come as an error of the lock
        if not stopped:
            raise
    if stopped:
        raise SystemExit(128 + stopped[0]) from None


if __name__ == "__main__":
    main()
