"""The three quantities of the NHT-1 Application I/O Benchmark (Fineberg, RND-93-007, section 2.3).

Symbols are the report's: N points in each direction, NS time steps, IW steps between two writes,
w bytes a word, T_T elapsed time with writing, T_C elapsed time without.
"""

from kernels.contract import require_range

COMPONENTS = 5  # conserved variables a grid point
WORD = 8  # bytes of a 64-bit word


def require_schedule(NS: int, IW: int) -> int:
    """Number of dumps NS/IW.

    ``ValueError`` if IW is outside 1 … NS, or does not divide NS (the last steps would not be in the file).
    """
    require_range("NS", NS, 1, 10**9, "time steps")
    require_range("IW", IW, 1, NS, "time steps")
    if NS % IW:
        raise ValueError(
            f"IW = {IW} does not divide NS = {NS}, so the last {NS % IW} steps would not be "
            "written; choose an IW that divides NS"
        )
    return NS // IW


def dump_bytes(N: int, w: int = WORD) -> int:
    """Bytes of one dump of U: 5 w N³."""
    return COMPONENTS * w * N**3


def solution_bytes(N: int, NS: int, IW: int, w: int = WORD) -> int:
    """Bytes of all dumps: 5 w N³ NS/IW."""
    return dump_bytes(N, w) * require_schedule(NS, IW)


def transfer_rate(N: int, NS: int, IW: int, T_T: float, w: int = WORD) -> float:
    """R_IO = 5 w N³ (NS/IW) / T_T, bytes per second.

    The rate of the whole application, computing included; not that of the disk.
    """
    return solution_bytes(N, NS, IW, w) / T_T


def overhead(T_T: float, T_C: float) -> float:
    """zeta = T_T/T_C − 1, the share by which writing lengthens the run.

    By the report's rule T_C is the best verified time of the problem on the machine; what it used was the time of
    the same code without writing.  A slower T_C makes the overhead look smaller.
    """
    return T_T / T_C - 1
