"""What a folder is on, and how to keep the page cache out of a measurement (Linux; else unknown)."""

import errno
import os
from pathlib import Path

from kernels.files.work_folder import WorkFolder

#: Filesystems that keep their files in memory.
IN_MEMORY = frozenset({"tmpfs", "ramfs", "devtmpfs"})
#: Filesystems reached over a network or shared between nodes.
SHARED = frozenset("nfs nfs4 lustre gpfs beegfs ceph cifs smb3 9p virtiofs fuse.sshfs afs pvfs2 wekafs".split())
ALIGNMENT = 4096  # bytes; a multiple of every logical block size in use, and the page size


def write_all(handle: int, data) -> None:
    """``write`` until everything is written (the system may take less than it is given)."""
    data = memoryview(data).cast("B")
    while data:
        data = data[os.write(handle, data) :]


def pwrite_all(handle: int, data, offset: int) -> None:
    """``pwrite`` until everything is written."""
    data = memoryview(data).cast("B")
    while data:
        written = os.pwrite(handle, data, offset)
        data, offset = data[written:], offset + written


def preallocate(handle: int, nbytes: int) -> None:
    """Reserve ``nbytes`` for the file, so that a full disk shows now and not at the last dump."""
    try:
        os.posix_fallocate(handle, 0, nbytes)
    except AttributeError:  # not every system has the call
        os.ftruncate(handle, nbytes)
    except OSError as error:
        if error.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
            raise
        os.ftruncate(handle, nbytes)


def filesystem_type(folder) -> str | None:
    """Name of the filesystem that holds ``folder`` as the system calls it, None where unknown."""
    try:
        device = os.stat(folder).st_dev
        lines = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return None
    number = f"{os.major(device)}:{os.minor(device)}"
    best = None
    where = os.path.realpath(folder)
    for line in lines:
        left, _, right = line.partition(" - ")
        mount = left.split()[4].encode().decode("unicode_escape")
        inside = where == mount or where.startswith(mount.rstrip("/") + "/")
        # Some filesystems (btrfs, overlay) report another device number than their mount: the
        # longest mount point that contains the folder decides, an equal device number breaks ties.
        if inside:
            rank = (len(mount), left.split()[2] == number)
            if best is None or rank >= best[0]:
                best = (rank, right.split()[0])
    return best[1] if best else None


def kind(fstype: str | None) -> str:
    """``"memory"``, ``"shared"``, ``"local"`` or ``"unknown"`` for a filesystem type."""
    if fstype is None:
        return "unknown"
    if fstype in IN_MEMORY:
        return "memory"
    return "shared" if fstype in SHARED else "local"


def direct_refusal(folder) -> str | None:
    """Why files in ``folder`` cannot be opened with O_DIRECT, or None if they can."""
    if not hasattr(os, "O_DIRECT"):
        return "this operating system has no O_DIRECT"
    fstype = filesystem_type(folder)
    if kind(fstype) == "memory":  # recent kernels accept the flag there and ignore it
        return f"its filesystem ({fstype}) is memory and has nothing to bypass"
    with WorkFolder(folder, "direct-probe") as probe:
        try:
            os.close(os.open(probe.path / "probe", os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o600))
        except OSError as error:
            if error.errno != errno.EINVAL:
                raise
            return f"its filesystem ({fstype or 'of unknown type'}) does not take O_DIRECT"
    return None


def require_direct(folder) -> None:
    """``OSError`` with a remedy unless files in ``folder`` can be opened with O_DIRECT."""
    reason = direct_refusal(folder)
    if reason:
        raise OSError(
            errno.EOPNOTSUPP,
            f"direct = True is not possible in {folder}: {reason}; use direct = False or a folder on a local disk",
        )


def describe(folder, direct: bool = False, fsync: bool = False) -> dict:
    """How data written to ``folder`` travels: for results and run records.

    Returns
    -------
    dict
        ``type`` (as the system names it, or None), ``kind`` (see ``kind``), ``page_cache`` (True if
        writes go through it), ``reached_device`` (True only if the writes were waited for: O_DIRECT
        or fsync on a filesystem that is not memory; a device may still hold them in its own cache).
    """
    fstype = filesystem_type(folder)
    where = kind(fstype)
    return {
        "type": fstype,
        "kind": where,
        "page_cache": not direct,
        "reached_device": bool((direct or fsync) and where != "memory"),
    }


def drop_cache(path) -> bool:
    """Write ``path`` back and drop its pages, so that the next read is cold.

    Returns False where it cannot be done (no ``posix_fadvise``, or a filesystem in memory).
    Dirty pages are not dropped, hence the fsync.
    """
    if not hasattr(os, "posix_fadvise") or kind(filesystem_type(os.path.dirname(path) or ".")) == "memory":
        return False
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)
    return True
