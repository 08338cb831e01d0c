"""``python -m peers [names] [--threads N] [--rounds R] [--seed S] [--out FOLDER]``: ratios against others."""

import argparse
import sys
from contextlib import nullcontext
from pathlib import Path

from companion.files import prepared, sentence
from kernels.runtime.resources import require_threads, usable_cpus
from peers import Absent, Row, collect, measure, modules, require_known, summarise
from peers._record import Run


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m peers", description="Our kernels beside other software, interleaved in one run."
    )
    parser.add_argument(
        "names", nargs="*", metavar="name", help=f"peer modules to run (default: all of {', '.join(modules())})"
    )
    parser.add_argument(
        "--threads",
        type=int,
        default=None,
        help="threads on either side (default: once with 1, once with every usable CPU)",
    )
    parser.add_argument("--rounds", type=int, default=11, help="interleaved rounds (default: 11)")
    parser.add_argument("--seed", type=int, default=0, help="seed of the order within a round (default: 0)")
    parser.add_argument(
        "--out",
        type=Path,
        default=None,
        metavar="FOLDER",
        help="folder for the record of the run (default: none is kept)",
    )
    return parser


def _lines(row: Row) -> list[str]:
    """The row's table lines: one a peer, our time on the first."""
    lines, time = [], f"{row.ours.min() * 1e3:10.3f}"
    for peer in row.peers:
        lines.append(
            f"  {row.label:<44} {time:>10} {peer:<22} {row.ratio_min(peer):8.3f} {row.ratio_median(peer):8.3f}"
        )
        time = ""
    for peer, distance in row.wrong.items():
        lines.append(f"  {row.label:<44} {time:>10} {peer:<22} another answer, distance {distance:.3g}: not timed")
        time = ""
    return lines


def _report_absent(absent: list[dict]) -> str:
    """One sentence on what could not run."""
    if not absent:
        return "Every peer was present."
    unique = dict.fromkeys(f"{item['name']} ({item['reason']})" for item in absent)
    return f"Absent, so not compared: {'; '.join(unique)}."


def _walk(run: Run) -> bool:
    """Measure and print everything that ``run`` asks for; True if a peer disagreed with us."""
    disagreed = False
    for threads in run.threads:
        print(
            f"\n{threads} thread{'s' if threads > 1 else ''}; ratio = peer's time / our time, "
            "of the fastest samples and as median over rounds"
        )
        rows, group = [], None
        for name in run.names:
            for item in collect([name], threads):
                if isinstance(item, Absent):
                    run.add(name, threads, item)
                    continue
                row = measure(item, run.rounds, run.seed, threads)
                run.add(name, threads, row)
                if row.group != group:
                    group = row.group
                    print(f"\n{group}\n  {'case':<44} {'ours, ms':>10} {'peer':<22} {'min':>8} {'median':>8}")
                print("\n".join(_lines(row)), flush=True)
                disagreed |= bool(row.wrong)
                rows.append(row)
        _print_summary(rows)
    return disagreed


def _print_summary(rows: list[Row]) -> None:
    if rows:
        print(
            f"\n  {'against the fastest peer of each case':<44} {'cases':>10} "
            f"{'median':>8} {'10 %':>8} {'lowest':>8} {'median of medians':>18}"
        )
    for part in summarise(rows):
        print(
            f"  {part.group:<44} {part.count:10d} {part.median:8.3f} {part.tenth_percentile:8.3f} "
            f"{part.lowest:8.3f} {part.median_of_medians:18.3f}"
        )
    doubtful = sum(bool(row.flags) for row in rows)
    if doubtful:
        print(f"\n  {doubtful} of {len(rows)} comparisons were measured beside other load")


def _kept(run: Run, folder: Path | None) -> bool:
    """Walk; whatever ends it, the complete comparisons are kept where a folder is named."""
    with nullcontext() if folder is None else prepared(folder):
        try:
            return _walk(run)
        except BaseException as error:
            run.stopped(error)
            raise
        finally:
            if folder is not None and (path := run.save(folder)):
                print(f"\nkept in {path}", flush=True)


def main(arguments: list[str] | None = None) -> int:
    """Run the comparisons; exit status 1 if a peer disagreed with us, 2 for a bad argument."""
    options = _parser().parse_args(arguments)
    try:
        if options.rounds < 1:
            raise ValueError(f"rounds = {options.rounds} must be at least 1")
        counts = [require_threads(options.threads)] if options.threads is not None else sorted({1, usable_cpus()})
        names = list(dict.fromkeys(require_known(options.names or modules())))
        run = Run(names, counts, options.rounds, options.seed)
        disagreed = _kept(run, options.out)
    except OSError as error:
        print(f"peers: {sentence(error)}", file=sys.stderr)
        return 2
    except (ValueError, MemoryError, RuntimeError) as error:  # RuntimeError: a peer's program failed
        print(f"peers: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        print("peers: interrupted; the comparisons above are complete", file=sys.stderr)
        return 130
    print(f"\n{_report_absent(run.absent)}")
    return int(disagreed)


if __name__ == "__main__":
    sys.exit(main())
