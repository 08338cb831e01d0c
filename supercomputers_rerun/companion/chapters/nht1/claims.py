"""Claims of *Implementing the NHT-1 Application I/O Benchmark* (1993, pages 1 to 11) that are more than a formula."""

import itertools

from supercomputers_rerun.companion.claims.intervals import Interval

GIB = 2**30  # the report counts memory in powers of two


def _file_bytes(t) -> Interval:
    """Bytes of the output file of the full size: 5 w N³ NS/IW."""
    prose, size = t("prose"), t("prose").text("full_size", "value")
    solution = prose["components"] * prose["word"] * float(size) ** 3
    return solution * t("table_1")[size, "NS"] / t("table_1")[size, "IW"]


def file_size(t):
    """In the unit in which the report counts memory."""
    return _file_bytes(t) / GIB


def ipsc_hypercube(t):
    """Nodes of a hypercube by its links."""
    return 2 ** t("systems")["links_to_nodes", "ipsc"].mid


def n64_divisor(t):
    """The greatest common divisor of 64 and the divisor, where it does not divide the full size."""
    divisor, full = t("prose")["n64_divisor"].mid, t("prose")["full_size"].mid
    return divisor if 64 % divisor == 0 and full % divisor else 0


def cm2_overhead(t):
    """The file at the serial rate, over the computing time, whose half unit is half an hour."""
    seconds = 3600 * Interval.around(t("prose")["cm2_time"].mid, 0.5)
    return 100 * _file_bytes(t) / (t("systems")["io_rate_serial", "cm2"] * 1e6) / seconds


def group_ticks(t):
    """Every tick is twice the one before."""
    sheet = t("figure_1_axes")
    ticks = [key for key in sheet.keys() if key[0] == "x"]
    for before, after in itertools.pairwise(ticks):
        yield after[1], sheet.text(*after, "value"), 2 * sheet[(*before, "value")].mid


def time_ticks(t):
    """Ticks between the first and the last, at even distances."""
    sheet = t("figure_1_axes")
    ticks = [key for key in sheet.keys() if key[0] == "y"]
    step = (sheet[(*ticks[-1], "value")].mid - sheet[(*ticks[0], "value")].mid) / (len(ticks) - 1)
    for number, key in enumerate(ticks):
        yield key[1], sheet.text(*key, "value"), sheet[(*ticks[0], "value")].mid + number * step
