"""The drawing of Fig. 7.1, which our text lacks, made anew from the text and from Fig. 7.3."""

from supercomputers_rerun.companion import figures, tables


@figures.styled
def drawn() -> "figures.Shown":
    """Block diagram of the prototype: processors, memory, SSD, buffer memory, controllers and disks."""
    from matplotlib.patches import FancyBboxPatch

    rates, facts = tables.load("xmp1982", "fig7_3"), tables.load("xmp1982", "prose")
    alone, both = (rates[name].to_series() for name in ("stand_alone", "two_copies"))
    cpus, disks, half = int(facts["cpus"]), int(facts["disks"]), int(facts["disks"]) // 2
    figure, axis = figures.axes(height=3.6)
    places, boxes = [], []
    for x, y, width, text, colour in (
        (2, 3.2, 2.6, f"{cpus} CPUs, {int(facts['banks_normal'])} memory banks", 0),
        (4.4, 3.2, 1.5, f"SSD\n{alone['SSD']:.0f} MB/s", 1),
        (2, 2.2, 2.6, "I/O subsystem", 2),
        (4.4, 2.2, 1.5, f"buffer memory\n{alone['BMR']:.0f} MB/s", 1),
        (0.8, 1.2, 1.4, "BIOP (A1)", 2),
        (2.4, 1.2, 1.4, "DIOP (A2)", 2),
        (0.8, 0.2, 1.4, f"{half} disks\n{both['4 DISKS (A1)']:g} MB/s", 3),
        (2.4, 0.2, 1.4, f"{half} disks\n{both['4 DISKS (A2)']:g} MB/s", 3),
    ):
        style = {"facecolor": (figures.series(colour), 0.25), "edgecolor": figures.INK, "linewidth": 0.8}
        places.append((x, y))
        box = FancyBboxPatch((x - width / 2, y - 0.24), width, 0.48, boxstyle="round,pad=0.03", **style)
        boxes.append(axis.add_patch(box))
        axis.text(x, y, text, ha="center", va="center", size=9)
    ahead = alone["SSD"] / both["4 DISKS (A2)"]
    line = {"arrowstyle": "-", "color": figures.INK, "shrinkA": 0, "shrinkB": 0}
    for a, b in ((0, 1), (0, 2), (2, 3), (2, 4), (2, 5), (4, 6), (5, 7)):
        ends = {"patchA": boxes[a], "patchB": boxes[b]}
        axis.annotate("", places[b], places[a], arrowprops=line | ends)
    axis.set(xlim=(0, 5.3), ylim=(-0.2, 3.6))
    axis.set_axis_off()
    return figures.show(
        figure,
        data=rates,
        name="xmp1982_configuration",
        title=f"The SSD beside memory moved data at least {ahead:.0f} times as fast as four disks together",
        caption="Drawn from the report's text and rates; which boxes are joined is our reading.",
        tables="fig7_3 prose",
        alt=f"Block diagram, drawn for this book: {cpus} CPUs, an SSD, and an I/O subsystem with buffer memory and two "
        f"I/O processors, BIOP and DIOP, each with {half} of {disks} disks; measured rates in the boxes.",
    )
