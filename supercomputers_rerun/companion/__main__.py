"""``companion doctor | list | run | bench | report | show | compare | contribute | verify | check | completion``.

Exit codes: 0 done; 1 something required is missing, or a record does not belong to the book; 2 a request that cannot
be met, said in one sentence on stderr; 3 a result failed its verification; 130 interrupted; 143 terminated.
"""

import os
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, redirect_stdout
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


def list_experiments(names: list[str], style: str) -> None:
    """List experiments by chapter, with the time that each preset takes and what this machine lacks for them.

    Of those that you name it also says where each is written, what draws it, and which kernels it runs.
    """
    from supercomputers_rerun.companion import experiments, suite, tables

    found = [experiments.find(name) for name in names or experiments.REGISTER]
    if style:
        rows = [
            {word: getattr(entry, word) for word in ("id", "document", "item", "title")}
            | {f"{preset}_seconds": round(suite.estimate(entry, preset), 1) for preset in entry.presets}
            | {"unavailable": experiments.unavailable(entry)}
            for entry in found
        ]
        return print(_for_programs(rows, style))
    for number, (document, entries) in enumerate(groupby(found, key=lambda entry: entry.document)):
        of = tables.citation(document) if document in tables.documents() else "what the models of the book need"
        print(("\n" if number else "") + f"{document}: {of}")
        for entry in entries:
            times = ", ".join(f"{preset} {suite.duration(suite.estimate(entry, preset))}" for preset in entry.presets)
            reason = experiments.unavailable(entry)
            print(f"  {entry.id:28s} {entry.item:12s} {entry.title} [{times}]" + (f"  ({reason})" if reason else ""))
            if names:
                print(*(f"    {each}" for each in experiments.where_written(entry)), sep="\n")
    print(*experiments.BROKEN.values(), sep="\n", file=sys.stderr, end="\n" if experiments.BROKEN else "")


def _for_programs(rows: list[dict[str, Any]], style: str) -> str:
    from supercomputers_rerun.companion import answers

    return answers.to_json(rows) if style == "json" else answers.to_csv(rows)


def run(out: Path, experiment: str, style: str, figure: Path | None, threads: int | None, **asked: Any) -> None:
    """Run one experiment, write its record, and print what it measured beside what the report prints."""
    from supercomputers_rerun.companion import experiments, suite
    from supercomputers_rerun.companion.records import runs

    drawable = figure and _drawable(figure)
    threads = suite.threads_of(experiments.find(experiment)) if threads is None else threads
    with common.prepared(out):
        record = experiments.run_record(experiment, threads=threads, **asked)
        path, reasons = runs.deposit(record, out)
    print(*(f"not in {out}: {reason}" for reason in reasons), sep="\n", end="\n" if reasons else "", file=sys.stderr)
    _say(record, path, style, drawable)


def _say(record: dict[str, Any], path: Path, style: str, figure: Path | None) -> None:
    """Print what a record answers, for a reader or, as JSON or CSV, for a program; draw it where that is asked for."""
    from supercomputers_rerun.companion import answers

    found = answers.answer(record, beside=style != "csv")
    if style == "json":
        print(answers.as_json(found, path))
    else:
        print(answers.to_csv(answers.rows_of(found)) if style == "csv" else answers.text(found, path))
    if figure:
        drawn = _draw(record, figure)
        print(*(f"figure  {each}" for each in drawn), sep="\n", file=sys.stderr if style else sys.stdout)


#: What ``--figure`` can write.
_PICTURES = (".svg", ".png", ".pdf")


def _drawable(path: Path) -> Path:
    """``path``, if a figure can be written there; ``ValueError`` or ``ImportError`` before anything is measured."""
    common.require(*common.DRAWING)
    if path.suffix.lower() not in _PICTURES:
        raise ValueError(f"--figure {path}: the name must end in {', '.join(_PICTURES[:-1])} or {_PICTURES[-1]}")
    if not path.parent.is_dir():
        raise ValueError(f"--figure {path}: there is no folder {path.parent}")
    return path


def _draw(record: dict[str, Any], path: Path) -> list[Path]:
    """Write the figures of a record, the second as ``NAME-2.svg`` and so on; their names.

    ``ValueError`` where it has none.
    """
    from supercomputers_rerun.companion import experiments
    from supercomputers_rerun.companion.figures import rendering
    from supercomputers_rerun.companion.records import runs

    found, left = experiments.drawn_from(runs.dataset(record))
    drawn = [shown for shown in found if shown.figure is not None]
    for sentence in left:
        print(f"not drawn: {sentence}", file=sys.stderr)
    if not drawn:
        raise ValueError(f"--figure {path}: no figure can be drawn of this record of {record['experiment']}")
    names = [path, *(path.with_stem(f"{path.stem}-{number}") for number in range(2, len(drawn) + 1))]
    for shown, name in zip(drawn, names, strict=True):
        rendering.save(shown, name)
    return names


def bench(
    names: list[str],
    preset: str,
    threads: int | None,
    out: Path,
    seed: int,
    minutes: float | None,
    again: int | None,
    plan: bool,
) -> None:
    """Measure all that this machine can; a second call measures only what is still missing or doubtful."""
    from supercomputers_rerun.companion import experiments, suite

    end = None if minutes is None else time.monotonic() + 60 * minutes
    if minutes is not None and not minutes > 0:
        raise ValueError(f"--minutes {minutes:g} must be above zero")
    if preset not in experiments.PRESETS:
        raise ValueError(f"preset = {preset!r} is unknown; choose one of {', '.join(experiments.PRESETS)}")
    if again is not None and again < 0:
        raise ValueError(f"--again {again} must be zero or more")
    if sys.stderr.isatty():
        print("looking at what each experiment needs and this machine has", file=sys.stderr)
    planned = suite.plan(out, names, preset, threads, seed)
    if end is not None:
        planned = suite.within(planned, end - time.monotonic())
    if again is None:
        again = 0 if end or preset == "quick" else 3
    lines = suite.announcement(planned, again) + (suite.listing(planned, again) if plan else [])
    print(*lines, sep="\n", flush=True)
    if plan or not (planned.todo or (again and planned.doubtful)):
        return
    with common.prepared(out):
        failed, dropped, doubtful = suite.measure(planned, out, end)
        better = suite.measure_again(planned, doubtful, out, again)
    written = len(planned.todo) - len(failed) - len(dropped) + better
    if written or not dropped:
        print(f"{plural(written, 'record')} written to {out}; companion report {out} makes a page of them")
    elif not failed:
        raise ValueError(
            f"no experiment ended within --minutes {minutes:g}, of {', '.join(dropped)}: end what else keeps this "
            "machine busy, or give it more"
        )
    if dropped:
        print(f"not measured, since --minutes {minutes:g} were over: {', '.join(dropped)}; a second call goes on there")
    if failed:
        unverified = any(isinstance(error, common.UnverifiedError) for error in failed.values())
        sentence = f"no record of {', '.join(failed)}; the reasons are above"
        common.stop("companion", sentence, 3 if unverified else 2)


def report(records: Path, out: Path, force: bool) -> None:
    """Write one page that sets this machine's records beside the five reports and the book's machines."""
    common.require(*common.DRAWING)
    from supercomputers_rerun.companion.pages import report as page

    if (out / "index.html").exists() and not force:
        raise ValueError(f"{out / 'index.html'} exists; --force replaces it, --out FOLDER chooses another place")
    with common.prepared(out):
        print(page.write(records, out, force))


def compare(a: Path, b: Path, style: str, figure: Path | None) -> None:
    """Divide the times of record B by those of record A, case by case: above 1, A is faster.

    Of two folders it takes the newest records. A figure draws all records in B, by day, over those of the same kind of
    processor in A.
    """
    from supercomputers_rerun.companion import comparison

    if figure:
        from supercomputers_rerun.companion.figures import rendering

        rendering.save(comparison.drawn(comparison.trend(a, b)), _drawable(figure))
        print(f"figure  {figure}", file=sys.stderr if style else sys.stdout)
    found = comparison.compared(a, b)
    if style:
        return print(_for_programs([row for each in found for row in each.rows()], style))
    for number, each in enumerate(found):
        print(("\n" if number else "") + "\n".join(each.text()))


def show(record: Path, style: str, figure: Path | None) -> None:
    """Print what a record measured, in the unit of its experiment, beside what the report prints."""
    from supercomputers_rerun.companion.records import runs

    drawable = figure and _drawable(figure)
    _say(runs.read(record), record, style, drawable)


def check(report: str) -> None:
    """Say what the chapter of a report lacks or breaks: tables, claims, items, experiments, notebook, record."""
    from supercomputers_rerun.companion import check as parts

    found = parts.faults(report)
    for part, sentences in found.items():
        print(f"{part:12s}{'ok' if not sentences else plural(len(sentences), 'fault')}")
        print(*(f"{'':12s}{sentence}" for sentence in sentences), sep="\n", end="\n" if sentences else "")
    if any(found.values()):
        raise SystemExit(1)


def completion(shell: str) -> None:
    """Print what completes commands, options and experiments in bash or zsh: eval "$(companion completion bash)"."""
    from supercomputers_rerun.companion import completion as words
    from supercomputers_rerun.companion import experiments

    print(words.script(_parser(), list(experiments.REGISTER), list(experiments.PRESETS), shell))


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

    if not file.is_file():
        raise ValueError(f"{file} cannot be read: there is no such file")
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
    parser = common.Parser(
        "companion",
        description="Time the experiments of five benchmark reports, 1982 to 2014, on this machine.",
        epilog="To begin: companion bench --minutes 2, then companion report.",
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", prog="companion")

    def command(function: Callable, name: str = "") -> Callable:
        about = (function.__doc__ or "").replace("%", "%%")
        first = about.partition("\n")[0].rstrip(".")
        made = commands.add_parser(name or function.__name__, help=first, description=about)
        made.set_defaults(function=function)
        return made.add_argument

    def shown(add: Callable) -> None:
        """Ways in which an answer is printed."""
        add("--json", dest="style", action="store_const", const="json", default="", help="print JSON, for a program")
        add("--csv", dest="style", action="store_const", const="csv", help="print CSV, a line for each row")

    quick = {"default": "quick", "help": "quick, paper or modern; without it, %(default)s"}
    threads: dict[str, Any] = {"type": int, "help": "threads; without it, the experiment's own"}
    picture: dict[str, Any] = {"type": Path, "metavar": "FILE", "help": "draw it, too, as FILE.svg, .png or .pdf"}
    seed: dict[str, Any] = {"type": int, "default": 0, "help": "seed of states and order; without it, %(default)s"}
    folder: dict[str, Any] = {"action": "append", "type": Path, "metavar": "FOLDER"}
    folder["help"] = "where measured files lie; given again, work file i goes to folder i modulo their number"
    command(doctor)
    add = command(list_experiments, "list")
    add("names", nargs="*", metavar="NAME", help="experiments; without any, all")
    shown(add)
    add = command(run)
    add("experiment", help="its name; the command list shows all")
    add("-p", "--preset", **quick)
    add("-t", "--threads", **threads)
    add("-o", "--out", type=Path, default=Path("."), help="folder for the record; without it, the current one")
    add(
        "--budget", type=float, help="seconds for the rounds that fit; without it, the experiment's; 0: one call a case"
    )
    add("--rounds", type=int, help="samples per case; without it, the experiment's")
    add("--folder", **folder)
    add("--seed", **seed)
    add("--ranks", type=int, help="ranks of an MPI program; without it, the experiment's")
    add("--oversubscribe", action="store_true", help="accept more than four ranks for each CPU, as memory allows")
    add("--figure", **picture)
    shown(add)
    add = command(bench)
    add("names", nargs="*", metavar="NAME", help="experiments; without any, all that this machine can run")
    add("-p", "--preset", **quick)
    add("-t", "--threads", **threads)
    add("-o", "--out", type=Path, default=Path("records"), help="folder for the records; without it, %(default)s")
    add("--folder", **folder)
    add("--seed", **seed)
    add("--minutes", type=float, help="end after so many minutes; what the page of report asks comes first")
    add(
        "--again",
        type=int,
        help="measure what others' load or a drift made doubtful, now or in an earlier call, up to so often again, at "
        "the end; without it, 3, and 0 with the preset quick or --minutes",
    )
    add("--plan", action="store_true", help="say what would be measured, and how long it takes")
    add = command(report)
    add("records", type=Path, nargs="?", default=Path("records"), help="folder of run records, as bench writes them")
    add("-o", "--out", type=Path, default=Path("report"), help="folder for the page; without it, %(default)s")
    add("--force", action="store_true", help="replace the page if it exists")
    add = command(compare)
    add("a", type=Path, metavar="A", help="run record, or a folder of them")
    add("b", type=Path, metavar="B", help="run record, or a folder of them")
    add("--figure", **picture)
    shown(add)
    add = command(show)
    add("record", type=Path, help="run record")
    add("--figure", **picture)
    shown(add)
    add = command(contribute)
    add("records", type=Path, nargs="+", metavar="RECORD", help="run records, or folders of them")
    add("--write", action="store_true", help="copy what belongs to the book into data/runs")
    add = command(verify)
    add("file", type=Path, help="solution file of the NHT-1 application I/O benchmark")
    add("--no-diagonal", dest="diagonal", action="store_false", help="leave out the diagonal u(i,i,i,m) of every dump")
    add = command(check)
    add("report", help="its short name, that of its folder in data")
    add = command(completion)
    add("shell", choices=("bash", "zsh"), help="the shell that reads it")
    return parser


def _files_in(folders: list[Path] | None) -> AbstractContextManager:
    """Within it files of measurements lie in ``folders``, where there are any."""
    from supercomputers_rerun.companion import host

    return host.files_in(folders) if folders else nullcontext()


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
                with _files_in(asked.pop("folder", None)):
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
