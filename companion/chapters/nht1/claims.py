"""Claims of *Implementing the NHT-1 Application I/O Benchmark* (1993, pages 1 to 11)."""

import itertools

from companion.claims.engine import IDENTITY, RESTORED, Interval, Ledger

ledger = Ledger("nht1")

GIB = 2**30  # the report counts memory in powers of two: 256 megawords of 64 bits are its 2 gigabytes
MIB = 2**20


def solution_bytes(t, size: str) -> Interval:
    """Bytes of the solution vector: components × word × N³."""
    n = float(size)
    return t("prose")["components"] * t("prose")["word"] * n**3


ledger.rows(
    "bytes_per_write",
    "Section 3.1, N = {item}",
    "One write of the solution vector for N = {item} takes 5·8·N³ bytes.",
    "write_sizes",
    "bytes_per_write",
    lambda row, t: solution_bytes(t, row.key),
)


ledger.rows(
    "bytes_per_record",
    "Section 3.1, N = {item}",
    "One record for N = {item} takes 5·8·N² bytes.",
    "write_sizes",
    "bytes_per_record",
    lambda row, t: solution_bytes(t, row.key) / float(row.key),
)


ledger.rows(
    "records_per_write",
    "Section 3.1, N = {item}",
    "N records for N = {item} are one write of the solution vector.",
    "write_sizes",
    "bytes_per_write",
    lambda row, t: row["bytes_per_record"] * float(row.key),
)


@ledger.each(
    where="Table 1 and Section 3.1",
    statement="The sizes of the byte counts are those of Table 1: {item}.",
    itself=RESTORED,
)
def sizes(t):
    for (size,), (other,) in zip(t("table_1").keys(), t("write_sizes").keys(), strict=True):
        yield f"N = {size}", size, float(other)


ledger.equal(
    "full_size",
    "Section 3.2 and Table 1",
    "The full size is the largest N of Table 1.",
    ("prose", "full_size"),
    lambda t: max(float(size) for (size,) in t("table_1").keys()),
    itself=RESTORED,
)


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


ledger.equal(
    "file_size",
    "Section 3.2",
    "Output file of the full size: 5 w N³ NS/IW.",
    ("prose", "file_size"),
    lambda t: file_bytes(t) / GIB,
    form="{} GBytes",
    reason="The base is ambiguous: 1.58 in units of 2^30 bytes, 1.70 in units of 10^9. The report counts the "
    "memory of the Y-MP and of the iPSC/860 in powers of two, and only that gives the printed 1.6.",
)


ledger.equal(
    "point_bytes",
    "Section 3.3",
    "The bytes of one write call are one point: components times word.",
    ("prose", "point_bytes"),
    lambda t: t("prose")["components"] * t("prose")["word"],
    form="{} bytes",
)


# Systems


ledger.equal(
    "ymp_memory",
    "Section 3.1",
    "Y-MP memory is 256 megawords of 8 bytes, in powers of two.",
    ("systems", "memory", "ymp"),
    lambda t: t("systems")["memory_words", "ymp"] * t("prose")["word"] * MIB / GIB,
    form="{} GBytes",
)


ledger.equal(
    "ymp_word",
    "Section 3.1",
    "A word of Y-MP memory is a word of the byte counts.",
    ("prose", "ymp_word_bits"),
    lambda t: 8 * t("prose")["word"],
    form="{} bit",
)


ledger.equal(
    "ymp_name_processors",
    "Section 3.1",
    "The model name gives the number of processors.",
    ("systems", "processors", "ymp"),
    ("prose", "ymp_name_processors"),
    form="{} processors",
)


ledger.equal(
    "ymp_name_memory",
    "Section 3.1",
    "The model name gives the memory in megawords.",
    ("systems", "memory_words", "ymp"),
    ("prose", "ymp_name_memory"),
    form="{} MW",
)


ledger.equal(
    "ymp_peak",
    "Section 3.1",
    "Peak is processors times an addition and a multiplication each clock period.",
    ("systems", "peak", "ymp"),
    lambda t: t("systems")["processors", "ymp"] * 2 / t("systems")["clock_period", "ymp"].mid,
    form="{} GFLOPS",
)


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


ledger.equal(
    "ipsc_memory",
    "Section 3.3",
    "iPSC/860 memory is nodes times memory of a node.",
    ("systems", "memory", "ipsc"),
    lambda t: t("systems")["processors", "ipsc"] * t("systems")["memory_per_node", "ipsc"] / 1024,
    form="{} GByte",
)


ledger.equal(
    "ipsc_hypercube",
    "Section 3.3",
    "The nodes are a hypercube of as many dimensions as links to nodes.",
    ("systems", "processors_most", "ipsc"),
    lambda t: 2 ** t("systems")["links_to_nodes", "ipsc"].mid,
    form="{} nodes",
)


ledger.equal(
    "ipsc_links",
    "Section 3.3",
    "A node has its hypercube links and one for I/O.",
    ("systems", "links_per_node", "ipsc"),
    lambda t: t("systems")["links_to_nodes", "ipsc"] + 1,
    form="{} links",
)


ledger.equal(
    "ipsc_io_peak",
    "Section 3.3",
    "Peak of the file system is disks times rate of a disk.",
    ("systems", "io_rate_peak", "ipsc"),
    lambda t: t("systems")["disks", "ipsc"] * t("systems")["disk_rate", "ipsc"].mid,
    form="{} MBytes/sec",
)


ledger.equal(
    "ipsc_disks",
    "Section 3.3",
    "There is a disk on each I/O processor.",
    ("systems", "disks", "ipsc"),
    ("systems", "io_processors", "ipsc"),
    form="{} disks",
)


ledger.equal(
    "group_nodes",
    "Section 3.3",
    "The runs with groups use every node.",
    ("prose", "group_nodes"),
    ("systems", "processors", "ipsc"),
    form="{} nodes",
)


ledger.equal(
    "ieee_bits",
    "Section 3.2",
    "The numbers written on the CM-2 are the words of the byte counts.",
    ("prose", "ieee_bits"),
    lambda t: 8 * t("prose")["word"],
    form="{} bit",
)


ledger.equal(
    "cray_bits",
    "Section 3.2",
    "The numbers after conversion are double words of the Y-MP.",
    ("prose", "cray_bits"),
    lambda t: 2 * t("prose")["ymp_word_bits"],
    form="{} bit",
)


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
    printed="{}-{} %",
    cells=(("overheads", "Y-MP", "low"), ("overheads", "Y-MP", "high")),
    reason="The result tables are on the lost pages 12 to 20.",
)
ledger.not_checkable(
    "ipsc_overhead",
    where="abstract",
    statement="iPSC/860 overhead.",
    printed="> {} %",
    cells=(("overheads", "iPSC/860", "low"),),
    reason="The computing times are on the lost pages 12 to 20; the axis of Figure 1 gives total times only.",
)
ledger.not_checkable(
    "cm2_speedup",
    where="Section 3.2",
    statement="RNRBT/CMF against SampleBT/CMF.",
    printed="~{} %",
    cells=(("prose", "cm2_speedup"),),
    reason="The times of the two codes are on the lost pages 12 to 20.",
)
ledger.not_checkable(
    "cm2_time",
    where="Section 3.2",
    statement="Least time of RNRBT/CMF at N = 102.",
    printed="~{} h",
    cells=(("prose", "cm2_time"),),
    reason="The time itself is on the lost pages 12 to 20.",
)

ledger.equal(
    "ipsc_faster",
    "abstract, Section 3.2 and Figure 1",
    "The iPSC/860 is faster than the CM-2: the axis of Figure 1 ends before the least time of the CM-2.",
    ("prose", "cm2_time"),
    lambda t: max(t("figure_1_axes")[*key, "value"].mid for key in t("figure_1_axes").keys() if key[0] == "y") / 3600,
    form="{} h",
    bound="<",
)
for _name, _where, _statement, _cell, _reason in (
    ("fastest", "abstract", "The fastest of the three machines.", ("prose", "fastest"), "The times of the Y-MP"),
    ("slowest", "abstract", "The slowest of the three machines; against the iPSC/860 it is checked.",
     ("prose", "slowest"), "The times of the Y-MP"),
    ("first_code", "Section 3.3", "Overhead, time and rate of the first code of the iPSC/860.",
     ("codes", "SampleBT/iPSC", "stated"), "Its results"),
    ("asynchronous", "Section 3.3", "Asynchronous writes on the iPSC/860, for the larger sizes.",
     ("prose", "asynchronous"), "Times of asynchronous writes"),
):  # fmt: skip
    ledger.not_checkable(
        _name,
        where=_where,
        statement=_statement,
        cells=(_cell,),
        reason=f"{_reason} are on the lost pages 12 to 20.",
    )


# Figure 1


@ledger.each(
    where="Figure 1, abscissa",
    statement="The ticks of the write group are powers of two: tick {item}.",
    itself=RESTORED,
)
def group_ticks(t):
    sheet = t("figure_1_axes")
    ticks = [key for key in sheet.keys() if key[0] == "x"]
    for before, after in itertools.pairwise(ticks):
        yield after[1], sheet.text(*after, "value"), 2 * sheet[(*before, "value")].mid


@ledger.each(
    where="Figure 1, ordinate",
    statement="The ticks of time are evenly spaced: tick {item} between the first and the last.",
    itself={"1": IDENTITY, "11": IDENTITY},
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


ledger.equal(
    "largest_group",
    "Section 3.3 and Figure 1",
    "The largest group is smaller than the nodes.",
    ("prose", "group_nodes"),
    lambda t: max(t("figure_1_axes")[*key, "value"].mid for key in t("figure_1_axes").keys() if key[0] == "x"),
    form="{} processors",
    bound="<",
)
