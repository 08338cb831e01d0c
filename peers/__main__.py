"""``python -m peers [names] [--threads N] [--rounds R] [--vectors BITS] [--out FOLDER]``: ratios against others."""

from pathlib import Path
from typing import Annotated

import typer

from companion import commands
from companion.bench.engine import require_rounds
from companion.files import prepared
from companion.labels import plural
from kernels.runtime.resources import require_threads, usable_cpus
from peers import Absent, Row, collect, measure, modules, require_known, summarise
from peers.kit import ceilings, vectors
from peers.kit.record import Run

_AGAIN = 8  # times that a comparison of a kept run is measured at most, if others are busy meanwhile


def _lines(row: Row) -> list[str]:
    """The row's table lines: one a peer, our time on the first."""
    said = {peer: f"{row.ratio_min(peer):8.3f} {row.ratio_median(peer):8.3f}" for peer in row.peers}
    said |= {peer: f"another answer, distance {far:.3g}: not timed" for peer, far in row.wrong.items()}
    time = f"{row.ours.min() * 1e3:10.3f}"
    lines = [
        f"  {row.label:<44} {'' if number else time:>10} {peer:<22} {words}"
        for number, (peer, words) in enumerate(said.items())
    ]
    return lines or [f"  {row.label:<44} {time:>10}"]


def _report_absent(absent: list[dict]) -> str:
    """One sentence on what could not run."""
    if not absent:
        return "Every peer was present."
    unique = dict.fromkeys(f"{item['name']} ({item['reason']})" for item in absent)
    return f"Absent, so not compared: {'; '.join(unique)}."


def _walk(run: Run, times: int = 1) -> bool:
    """Measure and print everything that ``run`` asks for; True if a peer disagreed with us.

    A comparison that was measured beside other load is measured again, ``times`` times in all.
    """
    disagreed = False
    for threads in run.threads:
        heads = "ratio = peer's time / our time, of the fastest samples and as median over rounds"
        print(f"\n{plural(threads, 'thread')}; {heads}")
        rows, group = [], None
        for name in run.names:
            for item in collect([name], threads):
                if isinstance(item, Absent):
                    run.add(name, threads, item)
                    continue
                row = _measured(item, run, times)
                run.add(name, threads, row)
                if row.group != group:
                    group = row.group
                    print(f"\n{group}\n  {'case':<44} {'ours, ms':>10} {'peer':<22} {'min':>8} {'median':>8}")
                print(*_lines(row), sep="\n", flush=True)
                disagreed |= bool(row.wrong)
                rows.append(row)
        _print_summary(rows)
    return disagreed


def _measured(item, run: Run, times: int) -> Row:
    """The comparison measured, again while it was beside other load; the last time counts."""
    for _ in range(times):
        row = measure(item, run.rounds, run.seed)
        if not row.flags:
            break
    return row


def _print_summary(rows: list[Row]) -> None:
    if rows:
        heads = f"{'cases':>10} {'median':>8} {'10 %':>8} {'lowest':>8} {'median of medians':>18}"
        print(f"\n  {'against the fastest peer of each case':<44} {heads}")
    for group, stands in summarise(rows).items():
        cases, *ratios, last = stands.values()
        print(f"  {group:<44} {cases:10d} {' '.join(f'{ratio:8.3f}' for ratio in ratios)} {last:18.3f}")
    doubtful = sum(bool(row.flags) for row in rows)
    if doubtful:
        print(f"\n  {doubtful} of {len(rows)} comparisons were measured beside other load")


def _walk_and_save(run: Run, folder: Path | None) -> bool:
    """Walk; whatever ends it, the complete comparisons are kept where a folder is named."""
    if folder is None:
        return _walk(run)
    with prepared(folder):
        run.begin()
        try:
            run.ceilings = ceilings.of(run.threads)
            return _walk(run, _AGAIN)
        except BaseException as error:
            run.stopped(error)
            raise
        finally:
            if saved := run.save(folder):
                path, reasons = saved
                print(f"\nkept in {path}", *(f"not for the book: {reason}" for reason in reasons), sep="\n")


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


@app.command()
def compare(
    names: Annotated[list[str] | None, typer.Argument(help="Peer modules to run; all if none is named.")] = None,
    threads: Annotated[int | None, typer.Option(help="On either side; if left out, with 1 and with all.")] = None,
    rounds: Annotated[int, typer.Option(help="Interleaved rounds.")] = 11,
    seed: Annotated[int, typer.Option(help="Of the order within a round.")] = 0,
    bits: Annotated[
        int | None,
        typer.Option("--vectors", help="256 builds both sides without AVX-512 and leaves out peers that come built."),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Folder for the record; none is kept if left out.")] = None,
) -> None:
    """Our kernels beside other software, interleaved in one run."""
    with commands.one_sentence("peers"):
        require_rounds(rounds)
        counts = [require_threads(threads)] if threads is not None else sorted({1, usable_cpus()})
        chosen = list(dict.fromkeys(require_known(names or (modules() if bits is None else vectors.COMPARED))))
        vectors.enter(bits, chosen)
        run = Run(chosen, counts, rounds, seed)
        disagreed = _walk_and_save(run, out)
    print(f"\n{_report_absent(run.absent)}")
    raise typer.Exit(int(disagreed))  # 1 if a peer disagreed with us


if __name__ == "__main__":
    app(prog_name="python -m peers")
