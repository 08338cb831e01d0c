"""Whether a run record belongs to the book, and where it goes: what a contributor and a maintainer check."""

from pathlib import Path
from typing import Any

from supercomputers_rerun.companion import host
from supercomputers_rerun.companion.records import runs


def reasons(record: dict[str, Any]) -> list[str]:
    """Why a record that :func:`companion.records.runs.read` accepted does not belong to the book; empty where it does.

    Beyond :func:`companion.records.runs.unfit`: it is of the preset paper, every case was checked, its commit is one
    that others can get, and the processor has a name.
    """
    found, commit = runs.unfit(record), record["machine"]["provenance"]["commit"] or ""
    if record["preset"] != "paper":
        found.append(f"it has the preset {record['preset']}, and the chapters draw runs at paper")
    bare = [case["label"] for case in record["measurements"] if not case["checks_before"] or not case["checks_after"]]
    if bare:
        found.append(f"{bare[0]!r} was never checked")
    main = next((each for each in ("origin/main", "main") if host.git("rev-parse", "-q", "--verify", each)), "HEAD")
    if not commit or host.git("merge-base", "--is-ancestor", commit, main) is None:
        found.append(f"its commit {commit[:12] or 'is unknown and'} is not in the history of {main}")
    if record["machine"]["cpu"]["model"] is None:
        found.append("it does not name the processor")
    return found


def write(record: dict[str, Any], folder: Path = runs.COMMITTED) -> Path:
    """Copy the record into the book's folder; one that is there is left, since no record is replaced."""
    path = folder / runs.file_name(record)
    return path if path.exists() else runs.write(path, runs.as_json(record))
