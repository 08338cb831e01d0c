"""What public functions ask of a reader's own arrays before compiled code, which checks nothing, gets the address."""

from types import SimpleNamespace

import numpy as np


def require_array(name: str, array, dtype, shape: tuple[int | None, ...], writable: bool = False, apart=()):
    """``array`` if it is C-contiguous, aligned, of ``dtype`` and ``shape`` (None: any length), else ``ValueError``.

    With ``writable`` it is no read-only one; it shares no memory with the arrays ``apart``.
    """
    kind = array.dtype if isinstance(array, np.ndarray) else type(array).__name__
    alike = kind == dtype and array.ndim == len(shape)
    if not alike or array.shape != shape and any(w not in (None, n) for w, n in zip(shape, array.shape, strict=True)):
        wanted = f"{np.dtype(dtype)} of shape ({', '.join(str(n or 'any') for n in shape)})"
        raise ValueError(f"{name} is {kind} of shape {np.shape(array)}; give a C-contiguous array, {wanted}")
    if not (array.flags.c_contiguous and array.flags.aligned):
        raise ValueError(f"{name} is not contiguous in memory; give a copy of it")
    if writable and not array.flags.writeable:
        raise ValueError(f"{name} is read-only and would be written; give a writable array")
    if any(np.may_share_memory(array, other) for other in apart):
        raise ValueError(f"{name} shares memory with another argument; give it memory of its own")
    return array


def readable(array: np.ndarray) -> np.ndarray:
    """``array``, or of one that is read-only, as a memory map may be, the same memory as an array that is not.

    For arguments that compiled code only reads: numba compiles everything anew for read-only arrays.
    """
    if array.flags.writeable:
        return array
    interface = array.__array_interface__
    address, _ = interface["data"]
    return np.asarray(SimpleNamespace(__array_interface__=interface | {"data": (address, False)}, kept=array))
