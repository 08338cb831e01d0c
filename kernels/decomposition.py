"""A cube of points cut into boxes, one a process: three factors as equal as can be."""

__all__ = ["box", "cut", "process_grid"]


def process_grid(P: int) -> tuple[int, int, int]:
    """P as a product of three factors as equal as can be, ascending: processes along i, j, k."""
    choices = [
        (a, b, P // (a * b))
        for a in range(1, P + 1)
        if P % a == 0
        for b in range(a, P // a + 1)
        if (P // a) % b == 0 and P // (a * b) >= b
    ]
    return min(choices, key=lambda grid: grid[2] - grid[0])


def cut(N: int, parts: int, index: int) -> tuple[int, int]:
    """Half-open range of the part ``index`` of 0 … N, cut into ``parts``."""
    return N * index // parts, N * (index + 1) // parts


def box(N: int, P: int, rank: int, grid: tuple[int, int, int] | None = None) -> tuple[tuple[int, int], ...]:
    """Half-open ranges of i, j and k that process ``rank`` of P holds, which stand in a ``grid``; by default
    :func:`process_grid`."""
    px, py, pz = grid or process_grid(P)
    place = (rank % px, rank // px % py, rank // (px * py))
    return tuple(cut(N, parts, index) for parts, index in zip((px, py, pz), place, strict=True))
