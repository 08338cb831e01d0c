"""Figures of chapter 4: Power5+ at ECMWF, 2006.

Functions of the document's tables come first, functions of run records (which draw host and document on one
axis where numbers survive) after them.  Those draw medians with their spread.
"""

import numpy as np
import pandas as pd
import xarray as xr
from matplotlib.ticker import MultipleLocator

from companion.chapters.p5plus.figures.evidence import *
from companion.chapters.p5plus.figures.findings import *
from companion.chapters.p5plus.figures.memory import *
from companion.chapters.p5plus.figures.profile import *
from companion.chapters.p5plus.figures.ranks import *
from companion.chapters.p5plus.figures.threads import *
from companion.figures.parts import icicle, points, stacked_bars
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, hollow
from companion.labels import plural


def ifs_times(times: xr.Dataset) -> Shown:
    """Where the time of three IFS jobs goes, as shares of the wall-clock time."""
    shares = pd.DataFrame((100 * times["time"] / times["wall"]).transpose("job", "section").to_pandas())
    shares = shares[["parallel", "comms", "barrier", "serial", "I/O", "missing"]]
    figure, axis = axes(height=2.6)
    stacked_bars(axis, shares, label="share of the elapsed time [%]", printed=True)
    largest = pd.DataFrame({"job": shares.index, "part": shares.idxmax(axis=1), "share": shares.max(axis=1)})
    return show(figure, data=times, name="p5plus_ifs_times", items=largest)


def _tree(cpi: xr.Dataset) -> dict:
    """The cycles of one CPI tree as nested mappings for ``icicle``."""
    rows = cpi[["name", "parent", "cycles"]].to_dataframe()
    rows["name"] = rows["name"].replace({"Groups": "Groups completed", "GCT": "GCT empty"})

    def branch(node):
        below = [child for child in rows.index if rows.loc[child, "parent"] == node and child != node]
        return {
            "name": rows.loc[node, "name"],
            "value": float(rows.loc[node, "cycles"]),
            "children": [branch(child) for child in below],
        }

    return branch(str(cpi["node"].values[0]))


def cpi_tree(cpi: xr.Dataset, routine: str) -> Shown:
    """Cycles of one routine split into completion, empty completion table and stalls."""
    figure, axis = axes(height=4.6, wide=True)
    icicle(axis, _tree(cpi))
    top = cpi.isel(node=cpi["depth"] == 1)
    parts = ", ".join(
        f"{name} {float(share):.1%}"
        for name, share in zip(top["name"].values, top["cycles"] / cpi["cycles"][0], strict=True)
    )
    return show(
        figure,
        data=cpi,
        name=f"p5plus_cpi_{routine.lower()}",
        title=f"Cycles of {routine}",
        caption="Each box is a share of all cycles, divided into its parts from left to right. Groups completed: "
        "instructions finish. GCT empty: none arrive. Stalls: they wait for loads and stores (LSU), fixed-point (FXU) "
        f"or floating-point work (FPU). Thin boxes have no name. Shares: {parts}.",
        alt=f"Icicle of processor cycles of {routine} on Power5+; depth to the right, height is the "
        f"share of all cycles. First level: {parts}.",
    )


def cpi_leaves(main: xr.Dataset, laitli: xr.Dataset, cloudsc3: xr.Dataset) -> Shown:
    """The innermost nodes of the three CPI trees, routine by routine."""
    shares = {}
    for routine, cpi in {"MAIN": main, "LAITLI": laitli, "CLOUDSC3": cloudsc3}.items():
        leaves = cpi.isel(node=~np.isin(cpi["node"].values, cpi["parent"].values))
        up = dict(zip(cpi["node"].values, cpi["name"].values, strict=True))
        names = [
            f"{up[parent]}: {name}" for parent, name in zip(leaves["parent"].values, leaves["name"].values, strict=True)
        ]
        shares[routine] = pd.Series(100 * (leaves["cycles"] / cpi["cycles"][0]).values, names)
    frame = pd.DataFrame(shares)
    figure, axis = axes(height=4.0)
    place = np.arange(len(frame))
    for number, routine in enumerate(frame):
        outline = hollow(("printed", "communication", "serial")[number])
        axis.barh(place + 0.27 * (number - 1), frame[routine], height=0.22, label=routine, **outline)
    axis.set_yticks(place, frame.index)
    largest = pd.DataFrame({"routine": list(frame), "node": frame.idxmax(), "share": frame.max()})
    return show(figure, data=frame.rename_axis("node").reset_index(), name="p5plus_cpi", items=largest)


def smt_binding(cube: xr.Dataset) -> Shown:
    """Time of one T399 forecast day against SMT, binding and memory affinity."""
    time = cube["time"]
    figure, axis = axes(height=2.7)
    for used, affinity in ((used, affinity) for used in "NY" for affinity in "NY"):
        line = points(
            axis,
            [0, 1],
            time.sel(smt=used, memory_affinity=affinity, bind=["N", "Y"]).values,
            label=f"{'with' if used == 'Y' else 'without'} SMT, memory affinity {'on' if affinity == 'Y' else 'off'}",
        )
        line.set(linestyle="--" if affinity == "N" else "-", marker="sD"["NY".index(used)])
    axis.set_xticks([0, 1], ["not bound", "bound"])
    axis.set(xlim=(-0.25, 1.25), ylim=(0, 1.08 * float(time.max())), ylabel="time [s]")
    return show(figure, data=cube, name="p5plus_smt_binding", time=time)


def gains(changes: pd.DataFrame) -> Shown:
    """What each change to the new system gained, as the range that is printed."""
    figure, axis = axes(height=2.5)
    low, high = changes["gain_low"], changes["gain_high"].fillna(changes["gain_low"])
    place = np.arange(len(changes))
    axis.barh(place, high - low, left=low, height=0.5, **hollow("printed"))
    axis.plot(low, place, "|", color=INK, markersize=11)
    axis.plot(high, place, "|", color=INK, markersize=11)
    variable = changes["of"].astype(str).str.contains("variab").to_numpy()
    points(axis, low[variable], place[variable], label="_", index=1, line=False)
    axis.set_yticks(place, changes["change"] + np.where(variable, "\n(less variability)", ""))
    return show(figure, data=changes, name="p5plus_changes", number=len(changes), widest=widest_change(changes))


def power(equal: pd.DataFrame, error_percent: float) -> Shown:
    """CPUs and power that three systems need for equal IFS performance, with the document's own error."""
    figure, (cpus, kilowatt) = axes(2, 1, height=3.8, sharey=True)
    place = np.arange(len(equal))
    cpus.barh(place, equal["cpus"], height=0.55, **hollow("printed"))
    kilowatt.barh(
        place,
        equal["power"],
        xerr=error_percent / 100 * equal["power"],
        height=0.55,
        ecolor=INK,
        capsize=3,
        **hollow("printed"),
    )
    kilowatt.set(xlabel=f"power for that performance [kW], bars ± {error_percent:g} %")
    kilowatt.xaxis.set_major_locator(MultipleLocator(0.05))
    for axis in (cpus, kilowatt):
        axis.set_yticks(place, equal["system"])
    listed = equal.assign(cpus=equal["cpus"].map(lambda count: plural(count, "CPU")))
    return show(figure, data=equal, name="p5plus_power", items=listed, error_percent=error_percent)


def blades(times: pd.DataFrame) -> Shown:
    """T399 on JS21 blades and on one P4+ node, split by section."""
    rows = {}
    parts_named = {"comms": "communication", "barrier": "barrier", "serial": "serial", "io": "I/O"}
    for row in times.itertuples():
        for system, prefix in (("JS21", "js21"), ("P4+", "p4")):
            total = getattr(row, f"{prefix}_time")
            if np.isfinite(total):
                parts = {
                    name: total * getattr(row, f"{prefix}_{part}_percent") / 100 for part, name in parts_named.items()
                }
                rows[f"{system}, {row.cpus} CPUs"] = {"computing": total - sum(parts.values()), **parts}
    frame = pd.DataFrame(rows).T
    figure, axis = axes(height=2.6)
    stacked_bars(axis, frame, label="time [s]", printed=True)
    data = frame.rename_axis("run").reset_index()
    return show(figure, data=data, name="p5plus_blades", items=frame.sum(axis=1))
