"""Paths with accents where the locale is not UTF-8, a Python in a folder with a blank, full folders: whole programs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from cases import tried

ROOT = Path(__file__).resolve().parent.parent
#: A locale in which names are bytes: without UTF-8, and without Python's own help.
LOCALE = {"LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
#: Text with a blank and letters of one to three bytes, and what is no text.
NAMES = ("naïve é ü 漢字", os.fsdecode(b"latin \xfc"))


def run(arguments, **variables):
    return subprocess.run(
        [sys.executable, *map(os.fsencode, map(str, arguments))],
        cwd=ROOT,
        env={**os.environ, **LOCALE, **variables},
        capture_output=True,
        stdin=subprocess.DEVNULL,
    )


@pytest.mark.weekly
def test_commands_read_and_write_names_with_accents(tmp_path):
    record = min((ROOT / "data" / "runs").glob("p5plus-latency*.json"), key=lambda path: path.stat().st_size)
    for name in NAMES:
        folder = tmp_path / name
        folder.mkdir()
        copy = shutil.copy(record, folder / f"{name}.json")
        for command, wanted in (
            (("export", copy, "--to", folder / f"{name}.nc"), f"{name}.nc"),
            (("export", copy, "--to", folder / f"{name}.csv"), f"{name}.csv"),
            (("show", copy, "--no-draw"), None),
            (("reframe", "--out", folder), "rerun_checks.py"),
        ):
            done = run(("-m", "companion", *command))
            assert done.returncode == 0, done.stderr.decode(errors="replace")[-1500:]
            assert wanted is None or (folder / wanted).exists()
            tried()


SOLUTION = """
import sys
import numpy as np
from kernels.files.format.solution import SolutionWriter
from kernels.files.format.opening import open_solution
for way in ("positioned", "netcdf", "zarr"):
    with SolutionWriter(f"{sys.argv[1]}/{way}", 4, 1, 1, way=way) as writer:
        writer.write(1, np.ones((4, 4, 4, 5)))
    with open_solution(f"{sys.argv[1]}/{way}") as solution:
        assert solution.steps == [1]
print("read")
"""


def test_solutions_of_every_form_in_folders_with_accents(tmp_path):
    folder = tmp_path.joinpath(*NAMES)
    folder.mkdir(parents=True)
    done = run(("-c", SOLUTION, folder))
    assert done.stdout == b"read\n", done.stderr.decode(errors="replace")[-1500:]
    tried(len(NAMES))


MADE = """
from kernels.runtime.jit import kernel

@kernel
def function(x):
    return 3.0 * x

print(function(2.0))
"""


def test_code_in_a_folder_with_accents_is_compiled_and_kept(tmp_path):
    """The folder where it is kept has both names."""
    folder, kept = tmp_path / NAMES[0] / NAMES[1], tmp_path / NAMES[1] / NAMES[0]
    folder.mkdir(parents=True)
    (folder / "made.py").write_text(MADE)
    done = run((folder / "made.py",), PYTHONPATH=str(ROOT), NUMBA_CACHE_DIR=str(kept))
    assert done.stdout == b"6.0\n", done.stderr.decode(errors="replace")[-1500:]
    assert list(kept.rglob("*.nbc")), "nothing was kept"
    tried(len(NAMES))


PYTHON = """#!/bin/sh
case "$2" in
    venv) mkdir -p "$4/bin" && cp "$0" "$4/bin/python" ;;
esac
exit 0
"""


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
@pytest.mark.parametrize("folder", ["with a blank", "quote'd", "$dollar", "semi;colon", "plain"])
def test_make_takes_a_python_from_any_folder(tmp_path, folder):
    """A stand-in for Python that makes an environment of itself: nothing is installed."""
    python = tmp_path / folder / "python3"
    python.parent.mkdir()
    python.write_text(PYTHON)
    python.chmod(0o755)
    work = tmp_path / "work"
    work.mkdir()
    for name in ("Makefile", "pyproject.toml", "setup.py", "requirements.lock"):
        shutil.copy(ROOT / name, work)
    given = str(python).replace("$", "\\$$")  # as make has it, and then as its shell has it
    done = subprocess.run(["make", "env", "UV=", f"PYTHON={given}"], cwd=work, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (work / ".venv" / ".ready").exists()
    tried()


FULL = """
import errno, os, sys
from companion import bench, cli
from kernels.files import storm
def run(problem, state, threads=1, repeats=1):
    raise OSError(number, os.strerror(number))
storm.run, numbers = run, map(int, sys.argv[2:])
sys.argv = ["companion", "run", "xc30-storm", "--out", sys.argv[1]]
for number in numbers:
    try:
        cli.app(prog_name="companion")
    except SystemExit as end:
        print(end.code, flush=True)
"""


def test_a_full_folder_is_named(tmp_path):
    """The system says only that there is no space; the sentence says where."""
    import errno

    numbers = (errno.ENOSPC, errno.EDQUOT, errno.EROFS)
    done = run(("-c", FULL, tmp_path / "out", *numbers), TMPDIR=str(tmp_path))
    assert done.stdout.decode().split() == ["2"] * len(numbers)
    for number, line in zip(numbers, done.stderr.decode().strip().splitlines(), strict=True):
        assert str(tmp_path) in line and os.strerror(number) in line, line
        tried()


def test_no_refusal_names_a_temporary(tmp_path, monkeypatch):
    """Whatever the system refuses while a solution or a FITS file is written, the sentence has the name asked for."""
    import errno

    import numpy as np

    from kernels.files import ways
    from kernels.files.format.solution import SolutionWriter
    from kernels.imaging import fits

    image, opened = np.ones((4, 4), np.float32), os.open
    for number in (errno.ENOSPC, errno.EIO, errno.EACCES, errno.EMFILE, errno.ENAMETOOLONG):

        def refuse(path, *arguments, number=number, **options):
            if ".rerun-" in os.fsdecode(path):
                raise OSError(number, os.strerror(number), os.fspath(path))
            return opened(path, *arguments, **options)

        monkeypatch.setattr(ways.os, "open", refuse)
        with pytest.raises(OSError) as caught:
            SolutionWriter(tmp_path / "s", 4, 1, 1)
        assert ".rerun-" not in str(caught.value) and str(tmp_path / "s") in str(caught.value), caught.value
        monkeypatch.undo()

        def refused(path, *arguments, number=number, **options):
            raise OSError(number, os.strerror(number), os.fspath(path))

        monkeypatch.setattr(fits, "open", refused, raising=False)
        with pytest.raises(OSError) as caught:
            fits.write_image(tmp_path / "i", image, 1.0)
        assert ".rerun-" not in str(caught.value) and str(tmp_path / "i") in str(caught.value), caught.value
        monkeypatch.undo()
        tried(2)
    assert os.listdir(tmp_path) == []
