"""``make peers ARGS="[names] [--threads N] [--rounds R] [--out FOLDER]"``: ratios against other software."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

from supercomputers_rerun.companion import common, host
from supercomputers_rerun.companion.bench import require_rounds
from supercomputers_rerun.companion.common import plural, prepared
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels.runtime.resources import require_threads, usable_cpus
from supercomputers_rerun.peers import Absent, collect, measure, modules, ratios, require_known, versions

_AGAIN = 8  # times that a comparison of a kept run is measured at most, if others are busy meanwhile


def _print(sides: list[dict[str, Any]]) -> None:
    """The comparison's lines: one a peer, our time on the first."""
    ours, *others = sides
    case, time = ours["parameters"]["case"], f"{min(ours['samples']) * 1e3:10.3f}"
    for peer in others:
        fastest, median = ratios(ours, peer)
        print(f"  {case:<44} {time:>10} {peer['parameters']['side']:<22} {fastest:8.3f} {median:8.3f}", flush=True)
        time = ""
    if not others:
        print(f"  {case:<44} {time}", flush=True)


def _walk(name: str, counts: list[int], rounds: int, seed: int, times: int) -> tuple[list[dict], list[dict], bool]:
    """Measure and print the comparisons of a module: sides, what is absent, and whether a peer disagreed with us.

    A comparison that was measured beside other load is measured again, ``times`` times in all.
    """
    found: list[dict[str, Any]] = []
    absent: list[dict[str, Any]] = []
    disagreed, group = False, None
    for threads in counts:
        print(
            f"\n{name}, {plural(threads, 'thread')}; ratio = peer's time / our time, of the fastest and of the medians"
        )
        for item in collect(name, threads):
            missing: list[Absent] = []
            if isinstance(item, Absent):
                missing = [item]
            else:
                for _ in range(times):
                    sides, missing = measure(item, threads, rounds, seed)
                    if not sides[0]["flags"]:
                        break
                disagreed |= bool(missing)
                if item.group != group:
                    group = item.group
                    print(f"\n{group}\n  {'case':<44} {'ours, ms':>10} {'peer':<22} {'fastest':>8} {'median':>8}")
                _print(sides)
                found += sides
            absent += [{"threads": threads, "name": each.name, "reason": each.reason} for each in missing]
            print(*(f"  not timed: {each}" for each in missing), sep="\n", end="\n" if missing else "")
    return found, absent, disagreed


def _record(
    name: str, counts: list[int], rounds: int, seed: int, found: list, absent: list, date: str
) -> dict[str, Any]:
    """A run record of kind "peer" of one module."""
    few = f"{rounds} rounds were asked for" if rounds < 3 else None
    return {
        "schema": runs.SCHEMA,
        "version": runs.VERSION,
        "experiment": f"peers-{name.replace('_', '-')}",
        "document": "peers",
        "item": name,
        "title": "Our kernels beside other software",
        "preset": "native",
        "threads": max(counts),
        "seed": seed,
        "date": date,
        "simulated": False,
        "kind": "peer",
        "few_samples": few,
        "machine": host.describe(measured=True),
        "measurements": found,
        "outputs": {"rounds": {"value": rounds, "units": None}},
        "software": versions(name),
        "absent": absent,
    }


def compare(names: list[str], threads: int | None, rounds: int, seed: int, out: Path | None) -> bool:
    """Our kernels beside other software, interleaved in one run; true where a peer gave another answer."""
    disagreed = False
    with common.one_sentence("peers"):
        require_rounds(rounds)
        counts = [require_threads(threads)] if threads is not None else sorted({1, usable_cpus()})
        for name in dict.fromkeys(require_known(names or modules())):
            date = runs.now()
            with prepared(out) if out else nullcontext():
                found, absent, other = _walk(name, counts, rounds, seed, _AGAIN if out else 1)
                disagreed |= other
                if out and found:
                    record = _record(name, counts, rounds, seed, found, absent, date)
                    path, reasons = runs.deposit(record, out)
                    print(f"\nkept in {path}", *(f"not for the book: {reason}" for reason in reasons), sep="\n")
    return disagreed


def main(given=None) -> int:
    """The status of ``python -m supercomputers_rerun.peers``: 1 where a peer gave another answer."""
    parser = common.Parser("peers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help="peer modules to run; all if none is named")
    parser.add_argument("--threads", type=int, help="on either side; if left out, with 1 and with all")
    parser.add_argument("--rounds", type=int, default=11, help="interleaved rounds")
    parser.add_argument("--seed", type=int, default=0, help="of the order within a round")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="for the records; none are kept if left out")
    return int(compare(**vars(parser.parse_args(given))))


if __name__ == "__main__":
    raise SystemExit(main())
