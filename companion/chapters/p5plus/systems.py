"""The section *What made the forecast faster?*: printed gains."""

from companion import figures, tables
from companion.common import np


def faster() -> str:
    """The ten-day forecast on the old and on the new system, on as many processors of the same clock."""
    found = tables.load("p5plus", "p4_p5")
    old, new = (float(found["wall"].sel(system=name)) for name in ("P4+", "P5+"))
    return (
        f"On {int(found['cpus'][0])} processors of the same clock the ten-day forecast took {old:.0f} s on Power4+ and "
        f"{new:.0f} s on Power5+, {old / new:.2f} times as fast."
    )


def gains() -> "figures.Shown":
    """What each change to the new system gained, as the range that is printed."""
    changes = tables.printed("p5plus", "changes")
    low, high = changes["gain_low"], changes["gain_high"].fillna(changes["gain_low"])
    steadier = changes["of"].astype(str).str.contains("variab").to_numpy()
    figure, axis = figures.axes(height=2.5)
    place = figures.rows(axis, changes["change"] + np.where(steadier, "\n(less variability)", ""))
    axis.barh(place, high - low, left=low, height=0.5, **figures.hollow("printed"))
    for end in (low, high):
        axis.plot(end, place, "|", color=figures.INK, markersize=11)
    figures.points(axis, low[steadier], place[steadier], label="_", index=1, line=False)
    axis.set(xlabel="printed gain [%]", xlim=(0, None))
    widest = changes.loc[(high - low).idxmax()]
    return figures.show(
        figure,
        name="p5plus_changes",
        data=changes,
        title="What each change gained",
        caption="Gains as the report prints them: a bar for a range, a tick for one number. Throttling (diamond) made "
        "times vary less, which is not a gain in speed.",
        alt=f"Range bars of the printed gain of {len(changes)} changes in percent. The widest range is that of "
        f"{widest['change']}: {widest['gain_low']:g} to {widest['gain_high']:g} %.",
        tables="changes",
    )
