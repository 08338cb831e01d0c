"""Claims of *Implementing the NHT-1 Application I/O Benchmark* (1993, pages 1 to 11)."""

import itertools

from companion.claims.engine import Interval, Ledger

ledger = Ledger("nht1")

GIB = 2**30  # the report counts memory in powers of two: 256 megawords of 64 bits are its 2 gigabytes
MIB = 2**20


def solution_bytes(t, size: str) -> Interval:
    """Bytes of the solution vector: components × word × N³."""
    n = float(size)
    return t("prose")["components"] * t("prose")["word"] * n**3


@ledger.each(
    where="Section 3.1, N = {item}",
    statement="One write of the solution vector for N = {item} takes 5·8·N³ bytes.",
)
def bytes_per_write(t):
    for (size,) in t("write_sizes").keys():
        yield size, t("write_sizes").text(size, "bytes_per_write"), solution_bytes(t, size)


@ledger.each(where="Section 3.1, N = {item}", statement="One record for N = {item} takes 5·8·N² bytes.")
def bytes_per_record(t):
    for (size,) in t("write_sizes").keys():
        yield size, t("write_sizes").text(size, "bytes_per_record"), solution_bytes(t, size) / float(size)


@ledger.each(
    where="Section 3.1, N = {item}",
    statement="N records for N = {item} are one write of the solution vector.",
)
def records_per_write(t):
    sheet = t("write_sizes")
    for (size,) in sheet.keys():
        yield size, sheet.text(size, "bytes_per_write"), sheet[size, "bytes_per_record"] * float(size)


@ledger.each(where="Table 1 and Section 3.1", statement="The sizes of the byte counts are those of Table 1: {item}.")
def sizes(t):
    for (size,), (other,) in zip(t("table_1").keys(), t("write_sizes").keys(), strict=True):
        yield f"N = {size}", size, float(other)


@ledger.claim(
    where="Section 3.2 and Table 1",
    cell=("prose", "full_size"),
    statement="The full size is the largest N of Table 1.",
)
def full_size(t):
    return max(float(size) for (size,) in t("table_1").keys())


@ledger.each(where="Table 1", statement="The write interval divides the number of steps: whole writes for {item}.")
def whole_writes(t):
    sheet = t("table_1")
    for (size,) in sheet.keys():
        steps, interval = sheet[size, "NS"].mid, sheet[size, "IW"].mid
        yield f"N = {size}", sheet.text(size, "NS"), steps // interval * interval


def file_bytes(t) -> Interval:
    """Bytes of the output file of the full size: 5 w N³ NS/IW."""
    size = t("prose").text("full_size", "value")
    return solution_bytes(t, size) * t("table_1")[size, "NS"] / t("table_1")[size, "IW"]


@ledger.claim(
    where="Section 3.2",
    printed="{} GBytes",
    cell=("prose", "file_size"),
    statement="Output file of the full size: 5 w N³ NS/IW.",
    reason="The base is ambiguous: 1.58 in units of 2^30 bytes, 1.70 in units of 10^9. The report counts the "
    "memory of the Y-MP and of the iPSC/860 in powers of two, and only that gives the printed 1.6.",
)
def file_size(t):
    return file_bytes(t) / GIB


@ledger.claim(
    where="Section 3.3",
    printed="{} bytes",
    cell=("prose", "point_bytes"),
    statement="The bytes of one write call are one point: components times word.",
)
def point_bytes(t):
    return t("prose")["components"] * t("prose")["word"]


# Systems


@ledger.claim(
    where="Section 3.1",
    printed="{} GBytes",
    cell=("systems", "memory", "ymp"),
    statement="Y-MP memory is 256 megawords of 8 bytes, in powers of two.",
)
def ymp_memory(t):
    return t("systems")["memory_words", "ymp"] * t("prose")["word"] * MIB / GIB


@ledger.claim(
    where="Section 3.1",
    printed="{} bit",
    cell=("prose", "ymp_word_bits"),
    statement="A word of Y-MP memory is a word of the byte counts.",
)
def ymp_word(t):
    return 8 * t("prose")["word"]


@ledger.claim(
    where="Section 3.1",
    printed="{} processors",
    cell=("systems", "processors", "ymp"),
    statement="The model name gives the number of processors.",
)
def ymp_name_processors(t):
    return t("prose")["ymp_name_processors"]


@ledger.claim(
    where="Section 3.1",
    printed="{} MW",
    cell=("systems", "memory_words", "ymp"),
    statement="The model name gives the memory in megawords.",
)
def ymp_name_memory(t):
    return t("prose")["ymp_name_memory"]


@ledger.claim(
    where="Section 3.1",
    printed="{} GFLOPS",
    cell=("systems", "peak", "ymp"),
    statement="Peak is processors times an addition and a multiplication each clock period.",
)
def ymp_peak(t):
    return t("systems")["processors", "ymp"] * 2 / t("systems")["clock_period", "ymp"].mid


@ledger.claim(
    where="Section 3.2",
    printed="{} units",
    cell=("systems", "floating_point_units", "cm2"),
    statement="The CM-2 used has floating-point units in the proportion of the largest configuration.",
)
def cm2_units(t):
    systems = t("systems")
    return (
        systems["processors", "cm2"] * systems["floating_point_units_most", "cm2"] / systems["processors_most", "cm2"]
    )


@ledger.claim(
    where="Section 3.3",
    printed="{} GByte",
    cell=("systems", "memory", "ipsc"),
    statement="iPSC/860 memory is nodes times memory of a node.",
)
def ipsc_memory(t):
    return t("systems")["processors", "ipsc"] * t("systems")["memory_per_node", "ipsc"] / 1024


@ledger.claim(
    where="Section 3.3",
    printed="{} nodes",
    cell=("systems", "processors_most", "ipsc"),
    statement="The nodes are a hypercube of as many dimensions as links to nodes.",
)
def ipsc_hypercube(t):
    return 2 ** t("systems")["links_to_nodes", "ipsc"].mid


@ledger.claim(
    where="Section 3.3",
    printed="{} links",
    cell=("systems", "links_per_node", "ipsc"),
    statement="A node has its hypercube links and one for I/O.",
)
def ipsc_links(t):
    return t("systems")["links_to_nodes", "ipsc"] + 1


@ledger.claim(
    where="Section 3.3",
    printed="{} MBytes/sec",
    cell=("systems", "io_rate_peak", "ipsc"),
    statement="Peak of the file system is disks times rate of a disk.",
)
def ipsc_io_peak(t):
    return t("systems")["disks", "ipsc"] * t("systems")["disk_rate", "ipsc"].mid


@ledger.claim(
    where="Section 3.3",
    printed="{} disks",
    cell=("systems", "disks", "ipsc"),
    statement="There is a disk on each I/O processor.",
)
def ipsc_disks(t):
    return t("systems")["io_processors", "ipsc"]


@ledger.claim(
    where="Section 3.3",
    printed="{} nodes",
    cell=("prose", "group_nodes"),
    statement="The runs with groups use every node.",
)
def group_nodes(t):
    return t("systems")["processors", "ipsc"]


@ledger.claim(
    where="Section 3.2",
    printed="{} bit",
    cell=("prose", "ieee_bits"),
    statement="The numbers written on the CM-2 are the words of the byte counts.",
)
def ieee_bits(t):
    return 8 * t("prose")["word"]


@ledger.claim(
    where="Section 3.2",
    printed="{} bit",
    cell=("prose", "cray_bits"),
    statement="The numbers after conversion are double words of the Y-MP.",
)
def cray_bits(t):
    return 2 * t("prose")["ymp_word_bits"]


@ledger.claim(
    where="Section 3.2",
    cell=("prose", "n64_divisor"),
    statement="64 is divisible by the divisor of the fastest CM-2 code and 102 is not: "
    "the greatest common divisor of 64 and the divisor.",
)
def n64_divisor(t):
    divisor, full = t("prose")["n64_divisor"].mid, t("prose")["full_size"].mid
    return divisor if 64 % divisor == 0 and full % divisor else 0


# Overheads


@ledger.claim(
    where="abstract",
    printed="< {} %",
    cell=("overheads", "CM-2", "high"),
    statement="CM-2 overhead at N = 102: the file at the measured serial rate, over the computing time.",
)
def cm2_overhead(t):
    seconds = 3600 * Interval.around(t("prose")["cm2_time"].mid, 0.5)
    return 100 * file_bytes(t) / (t("systems")["io_rate_serial", "cm2"] * 1e6) / seconds


ledger.not_checkable(
    "ymp_overhead",
    where="abstract",
    statement="Y-MP overhead, depending on processors.",
    printed="2-40 %",
    reason="The result tables stand on the lost pages 12 to 20.",
)
ledger.not_checkable(
    "ipsc_overhead",
    where="abstract",
    statement="iPSC/860 overhead.",
    printed="> 70 %",
    reason="The computing times stand on the lost pages 12 to 20; the axis of Figure 1 gives total times only.",
)
ledger.not_checkable(
    "cm2_speedup",
    where="Section 3.2",
    statement="RNRBT/CMF against SampleBT/CMF.",
    printed="~32 %",
    reason="The times of the two codes stand on the lost pages 12 to 20.",
)
ledger.not_checkable(
    "cm2_time",
    where="Section 3.2",
    statement="Least time of RNRBT/CMF at N = 102.",
    printed="~18 h",
    reason="The time itself stands on the lost pages 12 to 20.",
)


# Figure 1


@ledger.each(where="Figure 1, abscissa", statement="The ticks of the write group are powers of two: tick {item}.")
def group_ticks(t):
    sheet = t("figure_1_axes")
    ticks = [key for key in sheet.keys() if key[0] == "x"]
    for before, after in itertools.pairwise(ticks):
        yield after[1], sheet.text(*after, "value"), 2 * sheet[(*before, "value")].mid


@ledger.each(
    where="Figure 1, ordinate",
    statement="The ticks of time are evenly spaced: tick {item} between its neighbours.",
)
def time_ticks(t):
    sheet = t("figure_1_axes")
    ticks = [key for key in sheet.keys() if key[0] == "y"]
    step = (sheet[(*ticks[-1], "value")].mid - sheet[(*ticks[0], "value")].mid) / (len(ticks) - 1)
    for number, key in enumerate(ticks):
        yield key[1], sheet.text(*key, "value"), sheet[(*ticks[0], "value")].mid + number * step


@ledger.claim(
    where="Section 3.3 and Figure 1",
    cell=("prose", "best_group"),
    statement="The best group is a tick of the abscissa.",
)
def best_group(t):
    sheet = t("figure_1_axes")
    values = [sheet[(*key, "value")].mid for key in sheet.keys() if key[0] == "x"]
    return min(values, key=lambda value: abs(value - t("prose")["best_group"].mid))


@ledger.claim(
    where="Section 3.3 and Figure 1",
    printed="< {} processors",
    cell=("prose", "group_nodes"),
    statement="The largest group is smaller than the nodes.",
)
def largest_group(t):
    sheet = t("figure_1_axes")
    return max(sheet[(*key, "value")].mid for key in sheet.keys() if key[0] == "x")
