"""The section *What made the forecast faster?*: printed gains, and what survives of other systems."""

import numpy as np

from companion import figures, tables
from companion.late import pd


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
        f"{widest['change']}: {widest['gain_low']:g} to {widest['gain_high']:g} %. The last, throttling, is a "
        "reduction of variability, not a gain in speed.",
        tables="changes",
    )


def performance() -> "pd.DataFrame":
    """Performance of a CPU and of a kW of each system over Power5+, with its place in the report.

    A Power4+ CPU follows from the times of the same forecast on as many CPUs, a blade's from the report's numbers of
    CPUs and, by way of Power4+, from the times of one day of T399 on 32 CPUs.
    """
    power, wall = tables.printed("p5plus", "power_performance"), tables.load("p5plus", "p4_p5")["wall"]
    old = float(wall.sel(system="P5+") / wall.sel(system="P4+"))
    day = tables.printed("p5plus", "blades").set_index("cpus").loc[32]
    rows = [(row.system, "CPUs for equal performance", 1 / row.cpus) for row in power.itertuples()]
    rows.append(("Power4+", "times of T799", old))
    rows.append(("JS21 Blade", "times of T399 and T799", old * day["p4_time"] / day["js21_time"]))
    frame = pd.DataFrame(rows, columns=["system", "from", "performance of a CPU"])
    kilowatts = power.set_index("system")["kw_per_cpu"]
    drawn = frame["system"].map(kilowatts)  # that of a Power4+ node is not printed
    return frame.assign(**{"performance of a kW": frame["performance of a CPU"] * kilowatts["Power5+"] / drawn})


def others() -> "figures.Shown":
    """What survives of the other systems (P17 to P19) on one axis: performance of a CPU and of a kW."""
    frame, error = performance(), float(tables.load("p5plus", "prose")["power_error"]) / 100
    one, watt = frame["performance of a CPU"], frame["performance of a kW"]
    figure, axis = figures.axes(height=3.2)
    place = figures.rows(axis, [f"{row.system}\n({row[2]})" for row in frame.itertuples()])
    figures.points(axis, one, place - 0.12, label="of a CPU", index=0, line=False)
    label = f"of a kW, bars ± {100 * error:g} %"
    figures.points(axis, watt, place + 0.12, label=label, index=1, line=False)
    axis.hlines(place + 0.12, watt * (1 - error), watt * (1 + error), color=figures.INK)
    axis.axvline(1, color=figures.INK, linewidth=0.8)
    figures.log_axis(axis, "x")
    axis.set(xlabel="IFS performance over Power5+")
    axis.tick_params(axis="y", labelsize=8)
    figures.legend(axis, "above 2 0.4")
    said = (
        f"{name} by {how}: {cpu:.2g}" + (f", of a kW {kw:.2g}" if kw > 0 else "") for name, how, cpu, kw in frame.values
    )
    return figures.show(
        figure,
        name="p5plus_systems",
        data=frame,
        title="Other systems",
        caption="Performance of IFS on one processor of each system, and on processors that draw one kilowatt, over "
        "that of Power5+. The two estimates of a blade are independent; the power of a Power4+ node is not printed. "
        "Thin lines: the error that the report gives.",
        alt="Performance of IFS on a CPU of four systems over that of a Power5+ CPU, and the same for a kW: "
        f"{'; '.join(said)}.",
        tables="blades p4_p5 power_performance",
    )
