"""What is asked of a filesystem: a probe does what the work will do, and a wish may be refused."""

import errno
import os

import pytest

from supercomputers_rerun.companion import host
from supercomputers_rerun.kernels.files import filesystem


@pytest.fixture
def on_a_disk(monkeypatch):
    """Every folder is on a filesystem that could take O_DIRECT, which is a word that changes nothing."""
    monkeypatch.setattr(filesystem, "filesystem_type", lambda folder: "xfs")
    monkeypatch.setattr(os, "O_DIRECT", 0, raising=False)


def refusing(number):
    def call(*arguments):
        raise OSError(number, os.strerror(number))

    return call


def test_a_folder_whose_files_come_back_takes_o_direct(on_a_disk, tmp_path):
    assert filesystem.direct_refusal(tmp_path) is None and os.listdir(tmp_path) == []


@pytest.mark.parametrize("call", ["open", "pwrite", "preadv"])
@pytest.mark.parametrize("number", [errno.EINVAL, errno.EOPNOTSUPP, errno.EIO])
def test_a_filesystem_that_refuses_a_transfer_does_not_take_o_direct(on_a_disk, monkeypatch, tmp_path, call, number):
    """Some open such a file and refuse to read or to write it; some answer 95 where others answer EINVAL."""
    monkeypatch.setattr(host.tempfile, "tempdir", str(tmp_path))
    real_open = os.open

    def direct_open(path, *arguments, **options):
        if str(path).endswith("direct"):
            raise OSError(number, os.strerror(number))
        return real_open(path, *arguments, **options)

    monkeypatch.setattr(os, call, direct_open if call == "open" else refusing(number))
    reason = filesystem.direct_refusal(tmp_path)
    assert reason == f"its filesystem (xfs) does not take O_DIRECT: {os.strerror(number)}"
    found = host.o_direct()
    assert not found.ok and found.detail == reason
    with pytest.raises(OSError, match="direct = True is not possible"):
        filesystem.require_direct(tmp_path)
    monkeypatch.undo()
    assert os.listdir(tmp_path) == []


def test_a_filesystem_that_gives_back_something_else_does_not_take_o_direct(on_a_disk, monkeypatch, tmp_path):
    monkeypatch.setattr(os, "preadv", lambda handle, buffers, offset: buffers[0].nbytes)
    assert "does not give back what O_DIRECT wrote" in filesystem.direct_refusal(tmp_path)


def test_a_folder_that_takes_no_files_is_an_error_and_doctor_goes_on(on_a_disk, monkeypatch, tmp_path):
    with pytest.raises(OSError):
        filesystem.direct_refusal(tmp_path / "absent")
    monkeypatch.setattr(host.tempfile, "tempdir", str(tmp_path / "absent"))
    found = host.o_direct()
    assert not found.ok and "absent" in found.detail


@pytest.mark.parametrize("number", [errno.EOPNOTSUPP, errno.EINVAL])
def test_a_file_gets_its_length_where_room_cannot_be_reserved(monkeypatch, tmp_path, number):
    monkeypatch.setattr(os, "posix_fallocate", refusing(number))
    with open(tmp_path / "file", "wb") as file:
        filesystem.preallocate(file.fileno(), 12345)
    assert (tmp_path / "file").stat().st_size == 12345


def test_a_full_disk_shows_before_anything_is_written(monkeypatch, tmp_path):
    monkeypatch.setattr(os, "posix_fallocate", refusing(errno.ENOSPC))
    with open(tmp_path / "file", "wb") as file, pytest.raises(OSError, match="No space left"):
        filesystem.preallocate(file.fileno(), 12345)


def test_advice_that_a_kernel_does_not_take_is_none(on_a_disk, monkeypatch, tmp_path):
    (tmp_path / "file").write_bytes(b"kept")
    monkeypatch.setattr(os, "posix_fadvise", refusing(errno.ENOSYS))
    filesystem.drop_cache(tmp_path / "file")
    assert (tmp_path / "file").read_bytes() == b"kept"
