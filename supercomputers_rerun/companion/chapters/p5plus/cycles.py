"""The section *Where do the cycles go?*: three printed trees of processor cycles."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import UNTESTED, Finding, conclusion

#: What has a printed tree: the whole program (our reading of MAIN), an interpolation and the cloud scheme.
ROUTINES = ("MAIN", "LAITLI", "CLOUDSC3")


def leaves() -> "pd.DataFrame":
    """Share [%] of all cycles in the innermost nodes of each tree, a routine a column."""
    shares = {}
    for routine in ROUTINES:
        tree = tables.load("p5plus", f"cpi_{routine.lower()}")
        inner = tree.isel(node=~np.isin(tree["node"].values, tree["parent"].values))
        up = dict(zip(tree["node"].values, tree["name"].values, strict=True))
        pairs = zip(inner["parent"].values, inner["name"].values, strict=True)
        names = [f"{up[parent]}: {name}" for parent, name in pairs]
        shares[routine] = pd.Series(100 * (inner["cycles"] / tree["cycles"][0]).values, names)
    return pd.DataFrame(shares)


def stalls() -> dict[str, str]:
    """The unit for which the completion of each routine waits longest."""
    trees = {routine: tables.load("p5plus", f"cpi_{routine.lower()}") for routine in ROUTINES}
    parts = {routine: tree.isel(node=tree["parent"].values == "C") for routine, tree in trees.items()}
    return {routine: str(part["name"].values[part["cycles"].values.argmax()]) for routine, part in parts.items()}


@figures.styled
def trees() -> "figures.Shown":
    """The innermost nodes of the three trees, routine by routine."""
    frame = leaves()
    figure, axis = figures.axes(height=4.0)
    place = figures.rows(axis, frame.index)
    for number, colour in enumerate(("printed", "communication", "serial")):
        name, outline = ROUTINES[number], figures.hollow(colour)
        axis.barh(place + 0.27 * (number - 1), frame[name], height=0.22, label=name, **outline)
    axis.set(xlabel="share of cycles [%]")
    figures.legend(axis, "above 3 0.4")
    most = ", ".join(f"{name}: {frame[name].idxmax()} {frame[name].max():.0f} %" for name in frame)
    return figures.show(
        figure,
        name="p5plus_cpi",
        data=frame.rename_axis("node").reset_index(),
        title="The innermost parts of the three trees",
        caption=f"Share of the printed cycles of MAIN (P5) and of two routines (P5+). The largest of each: {most}.",
        alt=f"Bars of the innermost parts of three trees of cycles, percent of cycles. Largest: {most}.",
        tables="cpi_main cpi_laitli cpi_cloudsc3",
    )


@conclusion(
    "p5plus-c20",
    place='slides "CPI Analysis"',
    says="Routines wait for different units: loads and stores, fixed point, or floating point.",
)
def waits_for_units() -> Finding:
    """The unit for which the completion of each routine waits longest."""
    longest = stalls()
    return Finding(
        UNTESTED,
        "By the printed counts "
        + ", ".join(f"{routine} waits for {unit}" for routine, unit in longest.items())
        + ". No counter is read here; it takes a machine that shows them (perf_event).",
        bears=len(set(longest.values())) == len(longest),
    )
