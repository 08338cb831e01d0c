"""Arrays that begin a cache line, on pages of a chosen kind, and what is asked of a reader's own.

A working set on 4 KiB pages pays for address translation where one on 2 MiB pages does not, so a
bandwidth or a latency is only half told without its page size.  Linux takes the wish per range of
addresses (``madvise``); whether it was granted stands in ``/proc/self/smaps``.

Public functions look at a reader's arrays before compiled code, which checks nothing, gets the address.
"""

import mmap
import sys

import numpy as np

#: "default" leaves the choice to NumPy and the system, the others ask for it.
POLICIES = ("default", "small", "huge")

#: Bytes of a cache line.
LINE = 64

#: Bytes of a huge page on x86-64 and on AArch64 with a 4 KiB granule.
HUGE = 2 * 2**20


def can_advise() -> bool:
    """True where this system takes a wish for a page size."""
    return sys.platform == "linux" and hasattr(mmap, "MADV_HUGEPAGE")


def advised(region: mmap.mmap, policy: str) -> bool:
    """Ask for small or huge pages of a mapping, and whether the system took the wish: a kernel without transparent
    huge pages (real-time ones, some containers') answers EINVAL, and gives default pages."""
    try:
        region.madvise(mmap.MADV_HUGEPAGE if policy == "huge" else mmap.MADV_NOHUGEPAGE)
    except OSError:
        return False
    return True


def takes_wishes() -> bool:
    """Whether the kernel takes a wish for a page size, as it is asked of an array."""
    if not can_advise():
        return False
    with mmap.mmap(-1, HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) as region:
        return advised(region, "huge")


def aligned(shape, dtype=np.float64, boundary: int = LINE) -> np.ndarray:
    """Uninitialised C-contiguous array whose address is a multiple of ``boundary`` bytes.

    ``np.empty`` aligns large arrays to 16 bytes only, and ``np.zeros`` forgoes huge pages.
    """
    nbytes = int(np.prod(shape)) * np.dtype(dtype).itemsize
    raw = np.empty(nbytes + boundary, np.uint8)
    start = -raw.ctypes.data % boundary
    return raw[start : start + nbytes].view(dtype).reshape(shape)


def zeros(shape, dtype=np.float64, boundary: int = LINE) -> np.ndarray:
    """As :func:`aligned`, every page touched and every item zero."""
    array = aligned(shape, dtype, boundary)
    array.fill(0)
    return array


def allocate(items: int, dtype, policy: str = "default") -> np.ndarray:
    """Uninitialised array of ``items`` on pages of the wanted kind, aligned to at least 64 bytes.

    The memory is private and anonymous: a shared mapping would follow the page policy of tmpfs.
    Where the system takes no wish, "small" and "huge" give default pages; ``huge_fraction`` tells
    what was obtained.
    """
    if policy == "default" or not can_advise():
        return aligned(items, dtype)
    nbytes = items * np.dtype(dtype).itemsize
    region = mmap.mmap(-1, nbytes + 2 * HUGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    advised(region, policy)
    raw = np.frombuffer(region, np.uint8)  # keeps the mapping alive
    start = -raw.ctypes.data % HUGE
    return raw[start : start + nbytes].view(dtype)


def huge_fraction(array: np.ndarray) -> float | None:
    """Share of the resident memory around ``array`` that lies on huge pages; None where unknown.

    The system reports whole mappings, and a small array shares its mapping with its neighbours.  One that reports no
    huge pages has none.
    """
    address, inside, resident = array.ctypes.data, False, 0
    try:
        with open("/proc/self/smaps") as lines:  # line by line: a process of many mappings has megabytes of them
            for line in lines:
                word = line.split(maxsplit=1)[0]
                if not word.endswith(":"):
                    if inside and resident:
                        return 0.0
                    low, high = (int(end, 16) for end in word.split("-"))
                    inside = low <= address < high
                elif inside and word == "Rss:":
                    resident = int(line.split()[1])
                elif inside and word == "AnonHugePages:":
                    return int(line.split()[1]) / resident if resident else None
    except OSError:
        pass
    return None


def require_array(name: str, array, dtype, shape: tuple[int | None, ...], writable: bool = False, apart=()):
    """``array`` if it is C-contiguous, aligned, of ``dtype`` and ``shape`` (None: any length), else ``ValueError``.

    With ``writable`` it is no read-only one; it shares no memory with the arrays ``apart``.
    """
    kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
    alike = kind == dtype and array.ndim == len(shape)
    if not alike or array.shape != shape and any(w not in (None, n) for w, n in zip(shape, array.shape, strict=True)):
        wanted = f"{np.dtype(dtype)} of shape ({', '.join(str(n or 'any') for n in shape)})"
        raise ValueError(f"{name} is {kind} of shape {np.shape(array)}; give a C-contiguous array, {wanted}")
    flags = array.flags
    if not (flags.c_contiguous and flags.aligned):
        raise ValueError(f"{name} is not contiguous in memory; give a copy of it")
    if writable and not flags.writeable:
        raise ValueError(f"{name} is read-only and would be written; give a writable array")
    for other in apart:  # ``any`` takes 0.3 µs more, where a whole call takes 7
        if np.may_share_memory(array, other):
            raise ValueError(f"{name} shares memory with another argument; give it memory of its own")
    return array


class _Memory:
    """The memory of an array, under flags of its own; keeps the array alive."""

    def __init__(self, array: np.ndarray):
        self.array = array
        address, _ = array.__array_interface__["data"]
        self.__array_interface__ = {**array.__array_interface__, "data": (address, False)}


def as_writeable(array: np.ndarray) -> np.ndarray:
    """The memory of a read-only array as one that compiled code takes which was made for arrays that can be written.

    Nothing is copied.  Who asks for it reads only: numba would compile everything a second time for the other flag.
    """
    return np.asarray(_Memory(array))
