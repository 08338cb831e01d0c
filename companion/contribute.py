"""Whether a run record belongs to the book, and where it goes: what a contributor and a maintainer check."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from companion.host import machine
from companion.records import machines, runs, store

ROOT = Path(__file__).resolve().parents[1]
#: What contributor and maintainer do with records that belong to the book.
WHAT_FOLLOWS = (
    "Commit the files in data/runs and nothing else, and send the commit to whoever gave you the source.",
    "A maintainer repeats this command, runs make test and make book, and looks at the figures that draw the records.",
)


@dataclass(frozen=True)
class _Finding:
    """One thing that was looked at in a record."""

    what: str
    ok: bool
    said: str  # what was seen, or what is wrong and the remedy


def _verified(record: dict[str, Any]) -> _Finding:
    cases = record["measurements"]
    bare = [case["label"] for case in cases if not case["checks_before"] or not case["checks_after"]]
    made = [(case, check) for case in cases for check in (*case["checks_before"], *case["checks_after"])]
    failed = [f"{case['label']}: {check['name']}" for case, check in made if not check["ok"]]
    if failed or bare:
        first = f"{failed[0]} failed" if failed else f"{bare[0]!r} was never checked"
        return _Finding("verified", False, f"{first}; run it again, and if it stays, the kernel is wrong here")
    return _Finding("verified", True, f"{len(made)} checks before and after the timings passed")


def _possible(record: dict[str, Any]) -> _Finding:
    """No case computes or moves more than a processor can."""
    cpu = record["machine"]["cpu"]
    most, clock = machine.ceiling(cpu["architecture"] or "unknown"), cpu.get("measured_hz")
    name = "possible for the processor"
    if most["flops"] is None:
        return _Finding(name, True, "no bound is known for this architecture, so none was applied")
    # turbo may go beyond what the clock showed while it was measured
    factor = 1.0 if clock is None else min(1.0, 1.2 * clock / machine.FASTEST_HZ)
    for case in record["measurements"]:
        work, best = case["work"], min(case["samples"])
        moved = work["bytes_read"] + work["bytes_written"]
        for amount, bound, unit in ((work["flops"], most["flops"], "flop/s"), (moved, most["bytes"], "B/s")):
            if bound is not None and amount / best > factor * bound * max(1, case["threads"]):
                said = f"{case['label']} would run at {amount / best:.3g} {unit}, more than this processor can"
                return _Finding(name, False, f"{said}; work was left out, so the record cannot be used")
    clocked = f" at the measured clock of {clock / 1e9:.2f} GHz" if clock else ""
    return _Finding(name, True, f"no case exceeds the vector units or the first cache{clocked}")


def _published(record: dict[str, Any]) -> _Finding:
    """The commit is one that others can get."""
    name, commit = "from a published commit", record["machine"]["provenance"]["commit"]
    if not commit:
        return _Finding(name, False, "it names no commit; run it from a clone of the repository")
    known = [name for name in ("origin/main", "main", "HEAD") if machine.git("rev-parse", "--verify", "-q", name)]
    if not known:
        return _Finding(name, False, "this is no git checkout, so the commit cannot be looked up; use a clone")
    if machine.git("merge-base", "--is-ancestor", commit, known[0]) is None:
        remedy = "check out main without changes and run it again"
        return _Finding(name, False, f"commit {commit[:12]} is not in the history of {known[0]}; {remedy}")
    return _Finding(name, True, f"commit {commit[:12]} is in the history of {known[0]}")


def _measured_by_the_rules(record: dict[str, Any]) -> _Finding:
    reasons = runs.unfit(record)
    if record["preset"] != "paper":
        reasons.append(f"it has the preset {record['preset']}, and the chapters draw runs at paper")
    loads = [case["other_load"] for case in record["measurements"] if case["other_load"] is not None]
    quiet = f"others kept at most {max(loads, default=0.0):.2f} CPUs busy" if loads else "nothing was timed"
    return _Finding(
        "measured by the rules", not reasons, "; ".join(reasons) or f"clean checkout, {quiet}, enough samples"
    )


def examine(record: dict[str, Any]) -> list[_Finding]:
    """What is looked at in a record that :func:`companion.records.runs.read` accepted."""
    here = record["machine"]
    new, named = machines.place(here) == len(machines.known()), here["cpu"]["model"] is not None
    said = f"{machines.label(here)}, a machine {'that the book does not have yet' if new else 'of the book'}"
    known = _Finding("machine named", named, said if named else "the record does not name the processor")
    return [_verified(record), _possible(record), _measured_by_the_rules(record), _published(record), known]


def walk(paths: list[Path]) -> Iterator[tuple[Path, dict[str, Any] | None, list[_Finding]]]:
    """Each record of ``paths``, folders included, with what was found; a file that is none with its reason."""
    files = [file for path in paths for file in (sorted(path.glob("*.json")) if path.is_dir() else [path])]
    for path in files:
        try:
            record = runs.read(path)
        except (ValueError, OSError) as error:
            yield path, None, [_Finding("a run record", False, str(error))]
            continue
        yield path, record, examine(record)


def place(record: dict[str, Any], folder: Path = runs.COMMITTED) -> Path:
    """The file that the record would be in the book."""
    return folder / runs.file_name(record)


def write(record: dict[str, Any], folder: Path = runs.COMMITTED) -> Path:
    """Copy the record into the book's folder; one that is there is left, since no record is replaced."""
    path = place(record, folder)
    if path.exists():
        return path
    return store.write(path, store.text(record, "measurements"))
