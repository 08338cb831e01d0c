"""Whether a run record belongs to the book, and where it goes: what a contributor and a maintainer check."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from companion import host
from companion.records import runs

ROOT = Path(__file__).resolve().parents[1]
#: What contributor and maintainer do with records that belong to the book.
WHAT_FOLLOWS = (
    "Commit the files in data/runs and nothing else, and send the commit to whoever gave you the source.",
    "A maintainer repeats this command, runs make test and make book, and looks at the figures that draw the records.",
)


class Finding(NamedTuple):
    """One thing that was looked at in a record."""

    what: str
    ok: bool
    said: str  # what was seen, or what is wrong and the remedy


def _published(record: dict[str, Any]) -> Finding:
    """The commit is one that others can get."""
    name, commit = "from a published commit", record["machine"]["provenance"]["commit"]
    if not commit:
        return Finding(name, False, "it names no commit; run it from a clone of the repository")
    branch = next((each for each in ("origin/main", "main") if host.git("rev-parse", "-q", "--verify", each)), "HEAD")
    if host.git("merge-base", "--is-ancestor", commit, branch) is None:
        remedy = "check out main without changes and run it again"
        return Finding(name, False, f"commit {commit[:12]} is not in the history of {branch}; {remedy}")
    return Finding(name, True, f"commit {commit[:12]} is in the history of {branch}")


def examine(record: dict[str, Any]) -> list[Finding]:
    """What is looked at in a record that :func:`companion.records.runs.read` accepted."""
    here, cases = record["machine"], record["measurements"]
    bare = [f"{case['label']!r} was never checked" for case in cases
            if not case["checks_before"] or not case["checks_after"]]  # fmt: skip
    unruly = runs.unfit(record)
    if record["preset"] != "paper":
        unruly.append(f"it has the preset {record['preset']}, and the chapters draw runs at paper")
    new = runs.place(here) == len(runs.machines())
    said = f"{runs.label(here)}, a machine {'that the book does not have yet' if new else 'of the book'}"
    named = here["cpu"]["model"] is not None
    return [
        Finding("verified", not bare, bare[0] if bare else "all checks before and after the timings passed"),
        Finding("measured by the rules", not unruly, "; ".join(unruly) or "clean checkout, quiet, enough samples"),
        _published(record),
        Finding("machine named", named, said if named else "the record does not name the processor"),
    ]


def walk(paths: list[Path]) -> Iterator[tuple[Path, dict[str, Any] | None, list[Finding]]]:
    """Each record of ``paths``, folders included, with what was found; a file that is none with its reason."""
    for file in runs.files(paths):
        try:
            record = runs.read(file)
        except ValueError as error:
            yield file, None, [Finding("a run record", False, str(error))]
        else:
            yield file, record, examine(record)


def place(record: dict[str, Any], folder: Path = runs.COMMITTED) -> Path:
    """The file that the record would be in the book."""
    return folder / runs.file_name(record)


def write(record: dict[str, Any], folder: Path = runs.COMMITTED) -> Path:
    """Copy the record into the book's folder; one that is there is left, since no record is replaced."""
    path = place(record, folder)
    return path if path.exists() else runs.write(path, runs.as_json(record))
