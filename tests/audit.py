"""Checks the lock against known vulnerabilities: ``python tests/audit.py``.

pip-audit runs in an environment that uv makes for it and keeps out of ours, and asks the index of packages about
every line of the lock as it stands, without resolving it anew.  Whether an index is configured that knows of
vulnerabilities is tried with one line first: pip-audit takes one that knows nothing of a package for good news.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from tools import ROOT

#: A release with a published vulnerability (CVE-2023-32681): what knows nothing of it, knows nothing.
PROBE = "requests==2.30.0\n"
SECONDS = 1800
SILENT = (
    "no index that knows of vulnerabilities answers, so the lock was not checked; run this where one can be reached"
)


class Report(NamedTuple):
    """What pip-audit says of some requirements."""

    checked: int
    unknown: list[str]  # packages that the index did not answer about
    found: list[str]  # a sentence each


def report(text: str) -> Report:
    """The JSON that pip-audit writes, read; ``ValueError`` where it is none."""
    packages = json.loads(text)["dependencies"]
    unknown = [each["name"] for each in packages if "skip_reason" in each]
    found = []
    for each in packages:
        for one in each.get("vulns", ()):
            mended = ", ".join(one["fix_versions"]) or "no release yet"
            found.append(f"{each['name']} {each['version']}: {one['id']}, mended in {mended}")
    return Report(len(packages) - len(unknown), unknown, found)


def pip_audit(requirements: Path, *options: str) -> str:
    """Standard output of pip-audit for one file; what it says of hosts and indexes is not repeated."""
    command = [sys.executable, "-m", "uv", "tool", "run", "--quiet", "pip-audit", "--requirement", str(requirements)]
    command += ["--disable-pip", "--progress-spinner", "off", "--format", "json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, timeout=SECONDS)
    return done.stdout


def audit(lock: Path, ask=pip_audit) -> tuple[int, list[str]]:
    """Exit code and sentences: 0 nothing is known against the lock, 1 nobody could be asked, 3 something is known."""
    with tempfile.TemporaryDirectory(prefix="audit-") as folder:
        probe = Path(folder) / "probe.txt"
        probe.write_text(PROBE)
        try:
            if not report(ask(probe, "--no-deps")).found:
                return 1, [SILENT]
            known = report(ask(lock, "--require-hashes"))
        except (ValueError, KeyError, OSError, subprocess.TimeoutExpired):
            return 1, [SILENT]
    lines = [*known.found, *(f"{name}: the index does not know it" for name in known.unknown)]
    lines.append(f"{known.checked} packages of the lock checked, {len(known.found)} vulnerabilities known")
    return (3 if known.found else 0), lines


def main(
    lock: Annotated[Path, typer.Argument(help="Pinned requirements with hashes.")] = ROOT / "requirements.lock",
) -> None:
    """Check the lock against known vulnerabilities."""
    code, lines = audit(lock)
    print("\n".join(lines))
    raise SystemExit(code)


if __name__ == "__main__":
    typer.run(main)
