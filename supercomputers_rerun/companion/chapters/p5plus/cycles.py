"""The section *What does a processor wait for?*: three printed trees of processor cycles, and a profile."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import UNTESTED, Finding, conclusion

#: What has a printed tree: the whole program (our reading of MAIN), an interpolation and the cloud scheme.
ROUTINES = ("MAIN", "LAITLI", "CLOUDSC3")
#: What a cycle goes to, in words and colours: nodes of the printed trees, of which the first completes instructions.
_PARTS = {
    "work is completed": (("A",), "computing"),
    "waits for loads and stores": (("C1",), "communication"),
    "for integers": (("C2",), "files"),
    "for floating point": (("C3",), "waiting"),
    "for other things": (("B", "C4"), "serial"),
}
#: The three trees in words.
_NAMES = {
    "MAIN": "all of it (MAIN),\non Power5",
    "LAITLI": "an interpolation\n(LAITLI), Power5+",
    "CLOUDSC3": "clouds and rain\n(CLOUDSC3), Power5+",
}


def shares() -> "pd.DataFrame":
    """Share [%] of all cycles that goes to each part, a routine a row."""
    rows = {}
    for routine in ROUTINES:
        tree = tables.load("p5plus", f"cpi_{routine.lower()}")
        percent = 100 * tree["cycles"].values / tree["cycles"].values[0]
        rows[routine] = {part: percent[np.isin(tree["node"], names)].sum() for part, (names, _) in _PARTS.items()}
    return pd.DataFrame.from_dict(rows, orient="index")


def stalls() -> dict[str, str]:
    """The unit for which the completion of each routine waits longest."""
    trees = {routine: tables.load("p5plus", f"cpi_{routine.lower()}") for routine in ROUTINES}
    parts = {routine: tree.isel(node=tree["parent"].values == "C") for routine, tree in trees.items()}
    return {routine: str(part["name"].values[part["cycles"].values.argmax()]) for routine, part in parts.items()}


@figures.styled
def trees() -> "figures.Shown":
    """What the cycles of the three trees go to, routine by routine."""
    frame = shares()
    figure, axis = figures.axes(height=2.9)
    place, ends = figures.rows(axis, [_NAMES[routine] for routine in frame.index]), frame.cumsum(axis=1)
    longest = frame.drop(columns="work is completed").idxmax(axis=1)
    for part, (_, colour) in _PARTS.items():
        axis.barh(place, frame[part], left=ends[part] - frame[part], height=0.6, label=part, **figures.hollow(colour))
        for at, share, end, most in zip(place, frame[part], ends[part], longest, strict=True):
            if part == most:
                shade = {"color": figures.meaning(colour), "alpha": 0.3, "linewidth": 0}
                axis.broken_barh([(end - share, share)], (at - 0.3, 0.6), **shade)
            if share > 6:
                axis.text(end - share / 2, at, f"{share:.0f}", ha="center", va="center", size=9)
    axis.set(xlabel="share of the processor's cycles [%]", xlim=(0, 100))
    figures.legend(axis, "above 2 0.4")
    waiting = 100 - frame["work is completed"]
    figures.at_right(axis, [f"waits {share:.0f} %" for share in waiting])
    return figures.show(
        figure,
        name="p5plus_cpi",
        data=frame.rename_axis("routine").reset_index(),
        title=f"In 2006 code spent {waiting.min():.0f} to {waiting.max():.0f} % of its cycles waiting, and longest for "
        "different things",
        caption="Printed counts of two routines, and of MAIN, which we take for the whole program. Shaded: what each "
        "waits for most.",
        alt="; ".join(
            f"{routine}: {', '.join(f'{part} {share:.0f} %' for part, share in row.items())}"
            for routine, row in frame.iterrows()
        ),
        tables="cpi_main cpi_laitli cpi_cloudsc3",
    )


def waits() -> str:
    """Which unit each piece of code waits for longest, and for which share of its cycles."""
    assert stalls() == {"MAIN": "FPU", "LAITLI": "LSU", "CLOUDSC3": "FXU"}
    frame = shares()
    memory, clouds = frame.loc["LAITLI", "waits for loads and stores"], frame.loc["CLOUDSC3", "for integers"]
    assert memory > 60 and clouds > 20 and frame["work is completed"].max() < 50
    return (
        f"An interpolation waited longest for loads and stores, {memory:.0f} % of its cycles. The cloud scheme waited "
        "longest for integer operations. The whole program (MAIN, by our reading), on Power5, waited longest for "
        "floating-point operations."
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
        + ", ".join(f"{routine} waits longest for {unit}" for routine, unit in longest.items())
        + ". No counter is read here; it takes a machine that shows them (perf_event).",
        bears=len(set(longest.values())) == len(longest),
    )
