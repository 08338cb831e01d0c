"""Files of companion: whole or absent, and the system's refusals in one sentence."""

import errno
import os
import resource
import signal
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import xarray as xr

from companion import files
from companion.files import sentence, write_atomically, write_netcdf
from companion.records import store


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "/mnt/x"),
            "/mnt/x: No space left on device; free space there or choose another folder",
        ),
        (OSError(errno.EROFS, "Read-only file system"), "Read-only file system; choose a folder that can be written"),
        (PermissionError(errno.EACCES, "no", "y"), "y: no; choose another, or ask its owner for access"),
        (OSError(errno.EIO, "Input/output error", "y"), "y: Input/output error"),
        (
            OSError("the solution needs 3 GiB; choose a smaller problem"),
            "the solution needs 3 GiB; choose a smaller problem",
        ),
        (OSError(), "OSError"),
    ],
)
def test_a_refusal_is_a_sentence_with_the_remedy(error, expected):
    assert sentence(error) == expected


def test_the_error_names_the_file_and_not_its_temporary(tmp_path):
    def refuse(path):
        raise OSError(errno.EDQUOT, "Disk quota exceeded", str(path))

    with pytest.raises(OSError, match="quota") as caught:
        write_atomically(tmp_path / "x.csv", refuse)
    assert caught.value.filename == str(tmp_path / "x.csv")
    assert os.listdir(tmp_path) == []


def test_what_is_no_refusal_of_the_system_stays_as_it_is(tmp_path):
    with pytest.raises(ZeroDivisionError):
        write_atomically(tmp_path / "x.csv", lambda path: 1 / 0)
    assert os.listdir(tmp_path) == []


def test_netcdf_that_cannot_be_written_is_a_refusal(tmp_path):
    data = xr.Dataset({"a": ("x", np.ones(10**5))})
    limit = resource.getrlimit(resource.RLIMIT_FSIZE)
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (10**5, limit[1]))
    try:
        with pytest.raises(OSError) as caught:
            write_atomically(tmp_path / "x.nc", lambda path: write_netcdf(data, path))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limit)
        signal.signal(signal.SIGXFSZ, before)
    assert caught.value.errno == errno.EFBIG
    assert "raise the limit on file sizes" in sentence(caught.value)
    assert os.listdir(tmp_path) == []


def test_of_two_writers_of_a_new_name_one_is_told(tmp_path):
    """The second file comes to be while the first is written: neither is lost."""
    path = tmp_path / "x.json"

    def write(temporary):
        temporary.write_text("first")
        path.write_text("second")

    with pytest.raises(FileExistsError, match="never replaced silently"):
        write_atomically(path, write)
    assert path.read_text() == "second"
    assert os.listdir(tmp_path) == ["x.json"]
    write_atomically(path, lambda temporary: temporary.write_text("third"), overwrite=True)
    assert path.read_text() == "third"


def test_records_of_the_same_instant_are_all_kept(tmp_path):
    """Sixteen writers of one name at once: as many files, each whole."""
    begin = threading.Barrier(16)

    def write(number):
        begin.wait()
        return store.write(tmp_path / "x.json", f"{number}" * 1000)

    with ThreadPoolExecutor(16) as pool:
        paths = list(pool.map(write, range(16)))
    assert sorted(os.listdir(tmp_path)) == sorted(path.name for path in paths)
    assert [path.read_text() for path in paths] == [f"{number}" * 1000 for number in range(16)]


def test_without_links_the_file_is_renamed(tmp_path, monkeypatch):
    monkeypatch.setattr(files.os, "link", lambda *_: (_ for _ in ()).throw(PermissionError(errno.EPERM, "no links")))
    write_atomically(tmp_path / "x.json", lambda temporary: temporary.write_text("whole"))
    assert (tmp_path / "x.json").read_text() == "whole"
    assert os.listdir(tmp_path) == ["x.json"]


KILLED = """
import os, signal, sys
from pathlib import Path
from companion.files import write_atomically

def write(temporary):
    temporary.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)

write_atomically(Path(sys.argv[1]) / "old.json", write)
"""


def test_what_a_killed_writer_left_is_no_record_and_goes_with_the_next(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)])
    left = os.listdir(tmp_path)
    assert left and "old.json" not in left
    assert list(tmp_path.glob("*.json")) == []
    store.write(tmp_path / "new.json", "{}")
    assert os.listdir(tmp_path) == ["new.json"]


@pytest.mark.parametrize("room", [0, 4096, 40_000, 2**20 - 1])
def test_a_folder_that_takes_less_than_a_record_may_need_is_refused_beforehand(tmp_path, room):
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, ({room},) * 2)\n"
        f"from companion import files\nwith files.prepared({str(tmp_path / 'new')!r}):\n    print('begun')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode and "File too large" in done.stderr and "begun" not in done.stdout
    assert list(tmp_path.iterdir()) == []
