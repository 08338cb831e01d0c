"""Files have their name when they are complete, and a name that must be new replaces nothing."""

import os
import subprocess
import sys

import pytest

from supercomputers_rerun.kernels.runtime import atomic
from supercomputers_rerun.kernels.runtime.atomic import atomic_write


def test_a_file_that_fails_leaves_nothing_and_an_old_one_stays(tmp_path):
    path = tmp_path / "x"
    path.write_text("old")
    with pytest.raises(ZeroDivisionError), atomic_write(path) as part:
        part.write_text("half")
        raise ZeroDivisionError
    with pytest.raises(OSError, match=f"'{path}'"), atomic_write(path) as part:
        raise OSError(28, "No space left on device", str(part))
    assert path.read_text() == "old" and os.listdir(tmp_path) == ["x"]


@pytest.mark.parametrize("links", [True, False])
def test_of_two_writers_of_a_new_name_one_is_told(tmp_path, monkeypatch, links):
    """The second file comes to be while the first is written: neither is lost."""
    if not links:
        monkeypatch.setattr(atomic.os, "link", lambda *_: os.stat("/nowhere"))
    path = tmp_path / "x"
    with pytest.raises(FileExistsError), atomic_write(path, new=True) as part:
        part.write_text("first")
        path.write_text("second")
    assert path.read_text() == "second" and os.listdir(tmp_path) == ["x"]
    with atomic_write(tmp_path / "y", new=True) as part:
        part.write_text("whole")
    assert (tmp_path / "y").read_text() == "whole" and sorted(os.listdir(tmp_path)) == ["x", "y"]


def test_a_folder_that_takes_less_than_a_record_may_need_is_refused_beforehand(tmp_path):
    code = (
        "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (40_000,) * 2)\n"
        "from supercomputers_rerun.companion import common\n"
        f"with common.prepared({str(tmp_path / 'new')!r}):\n    print('begun')\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.returncode and f"File too large: '{tmp_path}/new'" in done.stderr and "begun" not in done.stdout
    assert list(tmp_path.iterdir()) == []
