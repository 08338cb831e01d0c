"""Words for numbers of things, in labels of cases, figures and tables."""

import math


def plural(number, noun: str) -> str:
    """``1 thread``, ``2 threads``."""
    return f"{int(number)} {noun}" if number == 1 else f"{int(number)} {noun}s"


def size(nbytes: int) -> str:
    """``512 KiB``, ``16 MiB``."""
    return f"{nbytes // 2**20} MiB" if nbytes % 2**20 == 0 else f"{nbytes / 2**10:g} KiB"


def significant(value, digits: int) -> str:
    """``value`` to ``digits`` significant digits, without an exponent between 1e-4 and 1e15."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return "–"
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, int) or value == 0:
        return str(value)
    if not 1e-4 <= abs(value) < 1e15:
        return f"{value:.{digits - 1}e}"
    return f"{value:.{max(0, digits - 1 - math.floor(math.log10(abs(value))))}f}"
