"""Every system call of a writer that fails, and every power cut: the old file, the new one, or one sentence.

``python tests/injector.py`` tries every call of every writer; here a few of those that take milliseconds.
"""

import os
import re
import shutil
import subprocess
import sys

import injector
import pytest

needs_compiler = pytest.mark.skipif(
    injector.compiler() is None, reason="calls are intercepted with LD_PRELOAD and a C compiler; one is missing here"
)


#: Every call of every writer takes longer than other tests may.
ALL = (pytest.mark.weekly, pytest.mark.timeout(1800))


@needs_compiler
@pytest.mark.parametrize(
    ("chosen", "every"),
    [(("text", "solution, positioned"), 3), pytest.param((), 1, marks=ALL)],
    ids=["some", "all"],
)
def test_no_failing_call_and_no_power_cut_falls_short(chosen, every):
    rows = injector.started(list(chosen), every, power=True)
    assert [row for row in rows if row.get("short")] == []
    assert {row["old"] for row in rows} == {False, True}
    assert all(row["tried"] for row in rows)
    assert {row["fault"] for row in rows} == {"calls", "power cut"}


#: Modules that give files their names, and the writer of ``injector.py`` that stands for each.
STANDS_FOR = {
    "companion/claims/__main__.py": "text",
    "companion/cli.py": "CSV",
    "companion/pages/report.py": "text",
    "companion/record_figures.py": "text",
    "companion/figures/rendering.py": "text",
    "companion/mpi/reframe.py": "text",
    "companion/notebooks.py": "text",
    "companion/records/store.py": "run record",
    "companion/tables/__init__.py": "text",
    "companion/tables/downloads.py": "package of the tables",
    "book/_ext/data_files.py": "text",
    "book/_ext/lecture.py": "package of the tables",  # a zip of texts as well
    "kernels/files/format/containers.py": "solution, zarr",
    "kernels/files/format/solution.py": "solution, positioned",
    "kernels/gridpoint/postprocess.py": "fields packed",
    "kernels/gridpoint/writeup.py": "write-up",
    "kernels/imaging/fits.py": "FITS",
    "kernels/files/ranks/shared.py": "solution, positioned",  # the same file; test_on_ranks.py tries that of several
    "kernels/shallow_water/ranks.py": "step of the shallow-water model",
    "kernels/shallow_water/model.py": "step of the shallow-water model",
}


def gives_names(path) -> bool:
    """Whether a module writes files that take their name when they are whole (a folder for work has none)."""
    makers, text = "Pending|atomic|write_atomically|write_bytes|write_text|write_zip", path.read_text(encoding="utf-8")
    imported = rf"^ *from (?:companion\.files|kernels\.files\.pending) import (?:\([^)]*|.*)\b(?:{makers})\b"
    return bool(re.search(rf"{imported}|\b(?:files|pending)\.(?:{makers})\b", text, re.MULTILINE))


def test_every_module_that_writes_has_its_writer_among_those_tried():
    own = {"kernels/files/pending.py", "companion/files.py"}
    rooms = [injector.ROOT / room for room in ("kernels", "companion", "peers", "book")]
    files = {path.relative_to(injector.ROOT).as_posix(): path for room in rooms for path in room.rglob("*.py")}
    assert {name for name, path in files.items() if gives_names(path)} - own == set(STANDS_FOR)
    assert set(STANDS_FOR.values()) <= set(injector.writers())


def states(log, begun=None):
    from pathlib import Path

    folder = Path("/w")
    begun = {folder / name: data for name, data in (begun or {}).items()}
    found = injector.states(log, begun, folder)
    return [{path.name: data for path, data in state.items()} for state in found]


WRITE = [("c", 1, 0, "/w/.t", "", b""), ("w", 1, 0, "", "", b"new!")]
NAMED = ("r", 0, 0, "/w/.t", "/w/x", b"")


def test_a_name_before_its_content_is_seen_as_damage():
    """Renaming without a sync is what the writers must not do: the replay shows an empty file of that name."""
    assert {"x": b""} in states([*WRITE, NAMED], {"x": b"old"})
    synced = states([*WRITE, ("s", 1, 0, "/w/.t", "", b""), NAMED], {"x": b"old"})
    assert {"x": b"new!"} in synced
    assert all(state["x"] in (b"old", b"new!") for state in synced)


def test_before_the_folder_is_synced_the_name_may_be_lost_and_afterwards_not():
    written = [*WRITE, ("s", 1, 0, "/w/.t", "", b""), NAMED]
    assert states(written)[-1] == {"x": b"new!"}
    assert {} in states(written)
    disk = injector.Disk({})
    for entry in [*written, ("s", 9, 0, "/w", "", b"")]:
        disk.call(*entry)
    assert [[path.name for path in names] for names in disk.history] == [["x"]]


REAL = """
import os, subprocess, sys
from pathlib import Path
sys.path[:0] = [os.getcwd(), "tests"]
import os
import shutil
import subprocess
import sys

import injector

place = Path(sys.argv[1])
keep = place / "w"
for name, writer in injector.writers().items():
    for room in (0, 1, 3, 8, 20, 60):  # KiB that are free beside an older file
        injector.empty(keep)
        writer.write(keep)
        filler, free = place / "filler", os.statvfs(place)
        with open(filler, "wb") as file:
            file.write(bytes(max(0, free.f_bavail * free.f_frsize - 1024 * room)))
        found = injector.outcome(writer.write, keep)
        names, good = injector.wholes(writer, keep)
        filler.unlink()
        left = [each for each in os.listdir(keep) if each.startswith(".")]
        if not found.startswith(("done", "refused")) or not good or names != good or left:
            print(f"{name}, {room} KiB free: {found}; {names}, of these whole {good}; left {left}")
    injector.empty(keep)
    writer.write(keep)
    subprocess.run(["mount", "-o", "remount,ro", str(place)], check=True)
    found = injector.outcome(writer.write, keep)
    names, good = injector.wholes(writer, keep)
    subprocess.run(["mount", "-o", "remount,rw", str(place)], check=True)
    if not found.startswith("refused") or not good or names != good:
        print(f"{name}, read-only: {found}; {names}, of these whole {good}")
"""


@pytest.mark.weekly
def test_a_disk_that_is_really_full_or_read_only(tmp_path):
    """A file system of its own for every writer, filled up to some KiB, then mounted read-only."""
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("needs unshare to mount a file system that nobody else sees")
    user = [] if os.geteuid() == 0 else ["--map-root-user"]
    mount = [unshare, "--mount", *user, "sh", "-c", 'mount -t tmpfs -o size=4m none "$1" || exit 77; shift; exec "$@"']
    inner = [sys.executable, "-c", REAL, str(tmp_path)]
    done = subprocess.run([*mount, "sh", str(tmp_path), *inner], cwd=injector.ROOT, text=True, capture_output=True)
    if done.returncode == 77:
        pytest.skip("this process may not mount a file system")
    assert (done.returncode, done.stdout) == (0, ""), done.stdout + done.stderr[-2000:]
