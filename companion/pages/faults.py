"""Sentences of the page *What can go wrong*, computed from the tables under ``tests/faults``."""

import csv
from pathlib import Path

from scipy.stats import binomtest

TABLES = Path(__file__).resolve().parents[2] / "tests" / "faults"
#: What a reader of damaged files may not do.
SHORT = ("crash", "hang", "error", "wrong")


def _rows(name: str) -> list[dict[str, str]]:
    """The rows of a table of ``tests/faults``."""
    return list(csv.DictReader((TABLES / f"{name}.csv").open(encoding="utf-8", newline="")))


def _share(noticed: int, judged: int) -> str:
    """How many of how many, and the share in per cent, rounded down, with its 95 % interval after Wilson."""
    low, high = binomtest(noticed, judged).proportion_ci(method="wilson")
    return f"{noticed} of {judged}, {100 * noticed // judged} % ({100 * low:.0f} … {100 * high:.0f})"


def readers() -> None:
    """Print what fuzzing the readers came to."""
    rows = _rows("readers")
    tried = sum(int(row["tried"]) for row in rows)
    short = sum(int(row[word]) for row in rows for word in SHORT)
    least = min(float(row["seconds"]) for row in rows)
    print(f"{tried} damaged files, at least {least:g} s of processor time a reader; fell short: {short}.")


def injected() -> None:
    """Print what failing calls of writers came to."""
    rows = _rows("writers")
    cases, short = (sum(int(row[name]) for row in rows) for name in ("cases", "fell short"))
    print(
        f"{cases} failing calls and power cuts of {len({row['writer'] for row in rows})} writers; fell short: {short}."
    )


def results() -> None:
    """Print how many damaged results ``verify`` was given, and how many it took for whole."""
    rows = _rows("results")
    tried, taken = (sum(int(row[name]) for row in rows) for name in ("damaged", "taken for whole"))
    print(f"{tried} damaged results of {len(rows)} kernels; taken for whole: {taken}.")


def mutants() -> None:
    """Print how many changed kernels the tests and ``verify`` noticed, those left out that change nothing."""
    rows = _rows("mutants")
    places = ("path", "line", "old", "new")
    same = {tuple(row[name] for name in places) for row in _rows("survivors") if row["reason"].startswith("equivalent")}
    unlike = [row for row in rows if tuple(row[name] for name in places) not in same]
    tests, verify = (_share(sum(row[judge] == "True" for row in unlike), len(unlike)) for judge in ("tests", "verify"))
    print(f"Changes judged: {len(rows)}; of these change nothing: {len(same)}.")
    print(f"Of the others the tests notice {tests},")
    print(f"and verify alone notices {verify}.")
    print("In brackets: 95 % interval of the share among all changes that could be drawn.")
