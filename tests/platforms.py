"""``python tests/platforms.py``: for which systems and Pythons the lock has wheels; writes ``data/platforms.csv`` anew.

uv resolves the lock for each system without building anything.  What ran there, and how, is kept from the file: a line
of ``kernels``, ``book`` and ``tried`` is changed by whoever tries it.  ``--only WORD`` looks at systems of that name.
"""

import argparse
import os
import re
import subprocess
import sys
from datetime import UTC, datetime

from tools import ROOT, read_rows, write_rows

TABLE = ROOT / "data" / "platforms.csv"
FIELDS = ("system", "python", "lock", "lacks", "kernels", "book", "tried", "date")
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
HERE = "Linux x86-64, glibc 2.28"
#: Words of the table -> uv's name and variables.
SYSTEMS = {
    HERE: ("x86_64-manylinux_2_28", {}),
    "Linux aarch64, glibc 2.28": ("aarch64-manylinux_2_28", {}),
    "Linux x86-64, glibc 2.17": ("x86_64-manylinux2014", {}),
    "Linux x86-64, musl": ("x86_64-unknown-linux-musl", {}),
    "macOS 15, Apple silicon": ("aarch64-apple-darwin", {"MACOSX_DEPLOYMENT_TARGET": "15.0"}),
    "macOS 15, Intel": ("x86_64-apple-darwin", {"MACOSX_DEPLOYMENT_TARGET": "15.0"}),
    "Windows x86-64": ("x86_64-pc-windows-msvc", {}),
    "Windows arm64": ("aarch64-pc-windows-msvc", {}),
}


def resolved(system: str, python: str) -> tuple[str, str]:
    """``("yes", "")``, or ``no`` and the package that has no wheel there; ``unknown`` where no index answers."""
    platform, variables = SYSTEMS[system]
    command = [sys.executable, "-m", "uv", "pip", "compile", "requirements.lock", "--no-deps", "--no-header", "--quiet"]
    command += ["--only-binary", ":all:", "--python-platform", platform, "--python-version", python]
    done = subprocess.run(command, cwd=ROOT, env={**os.environ, **variables}, capture_output=True, text=True)
    if done.returncode == 0:
        return "yes", ""
    found = re.search(
        r"[Bb]ecause (?:only )?([\w.-]+)(?:==\S+)? has no\s+(?:usable )?wheels", " ".join(done.stderr.split())
    )
    return ("no", found[1]) if found else ("unknown", "")


def table_lines() -> dict[tuple[str, str], dict[str, str]]:
    """The lines of the table by system and Python."""
    return {(row["system"], row["python"]): row for row in read_rows(TABLE)}


def note(system: str, python: str, **cells: str) -> None:
    """Change cells of one line of the table, with the date of today; parts that others wrote into ``tried`` stay."""
    rows = table_lines()
    row = rows[system, python]
    parts = [*row["tried"].split("; "), *cells.get("tried", "").split("; ")]
    row |= cells | {"tried": "; ".join(dict.fromkeys(filter(None, parts))), "date": _today()}
    write_rows(TABLE, rows.values())


def _today() -> str:
    return datetime.now(UTC).date().isoformat()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="")
    only = parser.parse_args().only
    rows, before = [], table_lines()
    for system in SYSTEMS:
        for python in PYTHONS:
            row = before.get((system, python), dict.fromkeys(FIELDS, "") | {"tried": "wheels of the lock resolved"})
            if only in system or not row["lock"]:
                lock, lacks = resolved(system, python)
                row |= {"system": system, "python": python, "lock": lock, "lacks": lacks}
                row["date"] = _today()
            rows.append(row)
    write_rows(TABLE, rows)


if __name__ == "__main__":
    main()
