"""What compiled code asks of an array, said in one sentence before it gets the address.

Compiled code checks no bounds and asks no page whether it may be written.
"""

from collections.abc import Iterable
from types import SimpleNamespace

import numpy as np


def require_array(
    name: str, array, dtype, shape: tuple[int | None, ...], writable: bool = False, apart: Iterable[np.ndarray] = ()
) -> np.ndarray:
    """``array`` if it is C-contiguous, aligned, of ``dtype`` and ``shape``.

    Else ``ValueError`` that names the array, what it is and what is wanted.

    Parameters
    ----------
    name : str
        What the caller knows it as.
    shape : tuple
        Lengths; None takes any.
    writable : bool
        Whether it is written: a read-only memory map would end the process.
    apart : arrays
        None of which may share memory with it.
    """
    if isinstance(array, np.ndarray) and array.dtype == dtype:
        flags = array.flags
        fits = array.shape == shape or (
            array.ndim == len(shape) and all(w in (None, n) for w, n in zip(shape, array.shape, strict=True))
        )
        if fits and flags.c_contiguous and flags.aligned and (flags.writeable or not writable):
            for other in apart:
                if np.may_share_memory(array, other):
                    raise ValueError(f"{name} shares memory with another argument; give it memory of its own")
            return array
    raise ValueError(_complaint(name, array, dtype, shape))


def require_room(
    name: str, array, dtype, least: tuple[int, ...], writable: bool = False, apart: Iterable[np.ndarray] = ()
) -> np.ndarray:
    """As :func:`require_array`, for an array that may be longer than ``least`` in every direction."""
    require_array(name, array, dtype, (None,) * len(least), writable, apart)
    if any(there < wanted for there, wanted in zip(array.shape, least, strict=True)):
        raise ValueError(f"{name} has shape {array.shape}; give one of at least {least}")
    return array


def readable(array: np.ndarray) -> np.ndarray:
    """``array``, or of one that is read-only its memory in the form of one that is not.

    For arguments that compiled code only reads: numba compiles everything anew for read-only arrays.
    """
    if array.flags.writeable:
        return array
    interface = array.__array_interface__
    address, _ = interface["data"]
    return np.asarray(SimpleNamespace(__array_interface__=interface | {"data": (address, False)}, kept=array))


def _complaint(name: str, array, dtype, shape: tuple[int | None, ...]) -> str:
    """What is wrong with an array that :func:`require_array` does not take, kind and shape first."""
    wanted = f"C-contiguous {np.dtype(dtype)} of shape ({', '.join('any' if n is None else str(n) for n in shape)})"
    if not isinstance(array, np.ndarray):
        return f"{name} is {type(array).__name__}; give an array, {wanted}"
    fits = array.ndim == len(shape) and all(w in (None, n) for w, n in zip(shape, array.shape, strict=True))
    if array.dtype != np.dtype(dtype) or not fits:
        return f"{name} is {array.dtype} of shape {array.shape}; give {wanted}"
    if not (array.flags.c_contiguous and array.flags.aligned):
        how = "aligned" if array.flags.c_contiguous else "contiguous"
        return f"{name} is not {how} in memory; give a copy of it, {wanted}"
    return f"{name} is read-only and would be written; give a writable array"
