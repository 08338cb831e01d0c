"""Figures and tables of the runs of chapter 2: the Dirty Dozen Test rerun, messages, images."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.parts import MARKED, bars, converted, cpu, log_axis, of_samples, points, run_title, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import CYCLE, INK, axes
from companion.figures.tabular import Table, table
from companion.records.runs import single

#: What a run has in each of its rows, by name in the record.
_RUN = "run_"


def runs_frame(record: xr.Dataset) -> pd.DataFrame:
    """The rows of a record's outputs as a table."""
    record = single(record)
    names = [str(name) for name in record if str(name).startswith(_RUN)]
    return pd.DataFrame({name.removeprefix(_RUN): record[name].values for name in names})


def named(frame: pd.DataFrame, record: xr.Dataset) -> pd.DataFrame:
    """``frame`` with the processor of the run in place of ``here`` in the names of its columns."""
    return frame.rename(columns=lambda name: str(name).replace("here", cpu(record)))


def memo_table(ddt: xr.Dataset, record: xr.Dataset, size: str) -> pd.DataFrame:
    """One size as the memo prints it: CPU, real, C/R of the run, then the ratios of the three systems to it."""
    frame = runs_frame(record)
    frame = frame[frame["size"] == size].set_index("task")
    problems = [name for name in ddt["problem"].values if name in frame.index]
    frame = frame.loc[problems]
    out = pd.DataFrame({"problem": problems, "CPU": frame["cpu"].values, "real": frame["real"].values})
    out["C/R"] = out["CPU"] / out["real"]
    for system in ddt["system"].values:
        old = ddt.sel(size=size, system=system, problem=problems)
        out[f"CPU, {system}/here"] = old["cpu"].values / out["CPU"]
        out[f"real, {system}/here"] = old["real"].values / out["real"]
    out["bits, max"], out["bits, rms"] = frame["bits_maximum"].values, frame["bits_rms"].values
    return out


#: Task, its product and the name of the picture.
PICTURES = (("UVMAP", "dirty", "dirty"), ("APCLN", "clean", "CLEAN"), ("VTESS", "model", "maximum entropy"))
MEMO_UNITS = {"CPU": "s", "real": "s"}


def speedups(ddt: xr.Dataset, classes: xr.Dataset) -> Shown:
    """Real-time speed-up of CLSC over the Convex by problem and size; scalar problems above, vector ones below."""
    ratio = ddt["real"].sel(system="NRAO1") / ddt["real"].sel(system="CLSC")
    cpu_gain = ddt["cpu"].sel(system="NRAO1") / ddt["cpu"].sel(system="CLSC")
    kinds = classes["class"].sel(problem=ddt["problem"]).values
    order = np.argsort(np.where(kinds == "vector", 1, 0), kind="stable")
    names = ddt["problem"].values[order]
    figure, axis = axes(height=5.4)
    place = np.arange(len(names))
    for number, size in enumerate(ddt["size"].values):
        shift = 0.25 * (number - 1)
        points(axis, ratio.sel(size=size).values[order], place + shift, label=f"{size}, real", index=number, line=False)
        axis.plot(
            cpu_gain.sel(size=size).values[order],
            place + shift,
            "|",
            color=CYCLE[number],
            markersize=9,
            label=f"{size}, CPU",
        )
    edge = float(np.count_nonzero(kinds != "vector")) - 0.5
    axis.axhline(edge, color=INK, linewidth=0.9)
    axis.text(0.99, edge - 0.1, "scalar", transform=axis.get_yaxis_transform(), ha="right", va="bottom", size=8)
    axis.text(0.99, edge + 0.1, "vector", transform=axis.get_yaxis_transform(), ha="right", va="top", size=8)
    axis.axvline(1, color=INK, linewidth=0.8)
    axis.set_yticks(place, names)
    axis.set_ylim(len(names) - 0.5, -0.5)
    axis.grid(False, axis="y")
    log_axis(axis, "x")
    axis.set_xlabel("speed-up of the X-MP at Toronto over the Convex C1")
    axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=3, columnspacing=1.0)
    vector = kinds == "vector"
    medians = [
        (size, *(float(ratio.sel(size=size)[kind].median()) for kind in (~vector, vector)))
        for size in ddt["size"].values
    ]
    text = ", ".join(f"{size} {scalar:.1f} and {quick:.1f}" for size, scalar, quick in medians)
    return show(
        figure,
        data=xr.Dataset({"real": ratio, "cpu": cpu_gain}),
        name="aips58_speedups",
        title="What the X-MP gained, scalar and vector problems apart",
        alt=f"Speed-up of the Cray X-MP/24 at Toronto over the Convex C1 by problem and size: markers real time, "
        "upright bars CPU time, which gained more. Median in real time of scalar and of vector problems: "
        f"{text}. The largest is {float(ratio.max()):.1f}.",
    )


def over_time(ddt: xr.Dataset, record: xr.Dataset, size: str) -> Shown:
    """Real time of every problem on the three systems and in a run, the run with its spread."""
    record = single(record)
    times = of_samples(record["observed_real"], record["flags"])
    times = times.set_axis(record["run_task"].values)[record["run_size"].values == size]
    problems = [name for name in ddt["problem"].values if name in times.index]
    times = times.loc[problems]
    figure, axis = axes(height=4.8)
    place = np.arange(len(problems))
    for number, system in enumerate(ddt["system"].values):
        old = ddt["real"].sel(size=size, system=system, problem=problems)
        points(axis, old, place, label=str(system), index=number, line=False)
    bars(axis, place, times, label=cpu(record), index=3, line=False, across=True)
    axis.set_yticks(place, problems)
    axis.set_ylim(len(problems) - 0.5, -0.5)
    axis.grid(False, axis="y")
    log_axis(axis, "x")
    axis.set_xlabel(f"real time [s], {size} problems, logarithmic")
    axis.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=4)
    axis.set_title(run_title(record), size=8, loc="left", pad=26)
    gain = ddt["real"].sel(size=size, system="NRAO1", problem=problems).values / times["middle"].values
    return show(
        figure,
        data=with_spread(pd.DataFrame({"task": problems}), real=times),
        name=f"aips58_here_{size}",
        title=f"The {size} problems in 1988 and rerun",
        run=record,
        caption=f"Real time on three systems of 1988 and on {cpu(record)}, which is {gain.min():.0f} to "
        f"{gain.max():.0f} times as fast as the Convex C1. {MARKED}",
        alt=f"Real time of the {size} problems on three systems of 1988 and on {cpu(record)}, logarithmic. "
        f"{cpu(record)} is {gain.min():.0f} to {gain.max():.0f} times as fast as the Convex C1.",
    )


#: How a message reaches its file.
WAY_NAMES = {
    "reopened": "opened for each",
    "synced": "opened and synced",
    "late": "opened, late answer",
    "kept": "kept open",
    "off": "no file",
}


def _where(frame: pd.DataFrame, which: str) -> str:
    """How the fastest or slowest message with a file is written, and where."""
    row = frame.loc[getattr(frame[frame["way"] != "off"]["real"], which)()]
    return f"with a file {WAY_NAMES[row['way']]}, in {row['place']}"


def messages(record: xr.Dataset) -> Shown:
    """CPU and real time of one message by way and place, with their spread."""
    record = single(record)
    frame = runs_frame(record)[["way", "place"]]
    times = {
        kind: converted(
            of_samples(record[f"observed_{kind}"], record["flags"]), lambda t: t / record["messages"].values
        )
        for kind in ("cpu", "real")
    }
    figure, axis = axes(height=4.2)
    ways, places = list(dict.fromkeys(frame["way"])), list(dict.fromkeys(frame["place"]))
    series = [(place, kind) for place in places for kind in times]
    for number, (place, kind) in enumerate(series):
        own = (frame["place"] == place).to_numpy()
        rows = np.array([ways.index(way) for way in frame["way"][own]])
        rows = rows + 0.18 * (number - (len(series) - 1) / 2)
        found = converted(times[kind][own], lambda t: 1e6 * t)
        name = "CPU" if kind == "cpu" else "real"
        bars(axis, rows, found, label=f"{place}: {name}", index=number, line=False, across=True)
    axis.set_yticks(np.arange(len(ways)), [WAY_NAMES[way] for way in ways])
    axis.invert_yaxis()
    axis.grid(False, axis="y")
    log_axis(axis, "x")
    axis.set_xlabel("time of a message [µs], logarithmic")
    axis.legend(loc="lower center", bbox_to_anchor=(0.35, 1.0), ncols=2)
    axis.set_title(run_title(record), size=8, loc="left", pad=38)
    frame = with_spread(frame, **times)
    text = "; ".join(
        f"{WAY_NAMES[row.way]}, {row.place}: {1e6 * row.cpu:.2g} µs CPU, {1e6 * row.real:.2g} µs real"
        for row in frame.itertuples()
    )
    return show(
        figure,
        data=frame,
        name="aips58_messages",
        title="What a message costs",
        run=record,
        caption=f"Time of one message by how and where it is written. Of those with a file, real time is least "
        f"{_where(frame, 'idxmin')} and most {_where(frame, 'idxmax')}. {MARKED}",
        alt=f"Time of one message. {text}.",
    )


def overhead(frame: pd.DataFrame) -> Shown:
    """Printed ratio of CPU times, Pittsburgh over Toronto, against the one predicted from the small problems."""
    figure, axis = axes(height=3.4)
    for number, size in enumerate(("medium", "large")):
        points(axis, frame[f"{size}, predicted"], frame[f"{size}, printed"], label=size, index=number, line=False)
    low, high = 0.7, 13
    axis.plot([low, high], [low, high], color=INK, linewidth=0.8)
    log_axis(axis)
    axis.set(xlabel="ratio predicted from the small problems", ylabel="printed ratio, PSC over CLSC")
    axis.set(xlim=(low, high), ylim=(low, high))
    axis.legend(loc="upper left")
    far = (frame["large, predicted"] / frame["large, printed"]).sub(1).abs()
    worst = frame.loc[far.idxmax()]
    return show(
        figure,
        data=frame,
        name="aips58_overhead",
        title="The cost of files, predicted from the small problems",
        alt=f"Printed against predicted ratios of CPU time, with the line on which both are equal; most points lie "
        f"near it. Farthest off of the large problems is {worst['problem']}: printed {worst['large, printed']:.2f}, "
        f"predicted {worst['large, predicted']:.2f}.",
    )


def images(pictures: dict[str, np.ndarray], size: str) -> Shown:
    """Dirty image, CLEAN and maximum entropy, one below the other, with a common scale in Jy per beam."""
    figure, panels = axes(len(pictures), 1, height=3.1 * len(pictures))
    for axis, (name, image) in zip(np.ravel(panels), pictures.items(), strict=True):
        side = image.shape[0]
        part = image[side // 4 : side - side // 4, side // 4 : side - side // 4]
        top = float(part.max())
        edges = (-side / 4, side / 4, -side / 4, side / 4)
        # the square root shows what lies far below the brightest pixel; the scale tells the values
        norm = _square_root(top)
        drawn = axis.imshow(
            part, origin="lower", extent=edges, cmap="viridis", norm=norm, interpolation="nearest", rasterized=True
        )
        bar = figure.colorbar(drawn, ax=axis)
        bar.set_ticks([0.0, *(top * part for part in (0.02, 0.1, 0.25, 0.5, 1.0))])
        bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:.2g}")
        bar.ax.minorticks_off()
        bar.set_label("Jy per beam" if name != "maximum entropy" else "Jy per pixel")
        axis.set_title(name, size=9)
        axis.set(xlabel="pixels from the middle", ylabel="pixels")
        axis.grid(False)
    text = "; ".join(f"{name}: {image.min():.3g} to {image.max():.3g}" for name, image in pictures.items())
    return show(
        figure,
        data=pd.DataFrame({name: [image.min(), image.max(), image.std()] for name, image in pictures.items()},
                          index=["least", "largest", "deviation"]).rename_axis("pixel").reset_index(),
        name=f"aips58_images_{size}",
        title=f"The {size} image: dirty, cleaned, and of maximum entropy",
        alt=f"The inner half of the {size} image in three forms, colours by the square root of the brightness. "
        f"Values {text}.",
    )  # fmt: skip


def _square_root(top: float):
    from matplotlib.colors import FuncNorm

    # below zero, to a hundredth of the top, colours go on; what is lower takes the lowest
    low = -0.01 * top
    return FuncNorm((lambda x: np.sqrt(np.maximum(x - low, 0)), lambda y: y**2 + low), vmin=low, vmax=top, clip=True)


def conclusions(ddt: xr.Dataset, record: xr.Dataset, size: str) -> pd.DataFrame:
    """What the memo concludes, with the memo's number, the run's, and whether it holds there."""
    frame = runs_frame(record)
    frame = frame[frame["size"] == size].set_index("task")
    part = ddt.sel(size=size, problem=list(frame.index))
    share = (part["cpu"] / part["real"]).sel(system="CLSC").values
    here = (frame["cpu"] / frame["real"]).values
    gain = frame["real"].rdiv(part["real"].sel(system="NRAO1").to_series())
    cpu = frame["cpu"].rdiv(part["cpu"].sel(system="NRAO1").to_series())
    most = frame["real"].idxmax()
    old = str(part["problem"].values[int(part["real"].sel(system="CLSC").values.argmax())])
    vector = frame.index.isin(["APCLN", "APRES", "ASCAL", "MXMAP", "MXCLN", "UVMAP", "VTESS"])
    gain_vector, gain_scalar = cpu[vector].median(), cpu[~vector].median()
    load = gain[["IMLOD", "UVLOD"]].median()
    rows = [
        ("CPU time is a small part of real time on a fast machine (median C/R)", float(np.median(share)),
         float(np.median(here)), float(np.median(here)) < 0.5),
        ("real time gains less than CPU time (median of the 13)", float((ddt["real"].sel(system="NRAO1")
         / ddt["real"].sel(system="CLSC")).sel(size=size).median()), float(gain.median()),
         float(gain.median()) < float(cpu.median())),
        ("loading gains least of all in real time", float((ddt["real"].sel(system="NRAO1")
         / ddt["real"].sel(system="CLSC")).sel(size=size, problem=["IMLOD", "UVLOD"]).median()), float(load),
         float(load) <= float(gain.median())),
        ("vector problems gain as much CPU time as scalar ones (ratio of medians)", float("nan"),
         float(gain_vector / gain_scalar), 0.5 <= float(gain_vector / gain_scalar) <= 2.0),
        (f"the longest problem is {old} (in the run {most})", float("nan"), float("nan"), most == old),
    ]  # fmt: skip
    frame = pd.DataFrame(rows, columns=["conclusion", "CLSC", "here", "holds"])
    return frame.assign(holds=frame["holds"].map({True: "yes", False: "no"}))


def full_tables(ddt: xr.Dataset, record: xr.Dataset | None) -> Table:
    """Every size of a committed record as the memo prints it; one sentence where none is committed."""
    if record is None:
        text = (
            "No run at the memo's sizes is committed yet; python -m companion run aips58-ddt --preset paper makes one."
        )
        return Table(f"<p>{text}</p>", text)
    sizes = [size for size in ddt["size"].values if size in record["run_size"].values]
    made = [
        table(
            named(memo_table(ddt, record, size), record),
            digits=3,
            folded=True,
            run=record,
            index=False,
            units=MEMO_UNITS,
            name=f"aips58_full_{size}",
            caption=f"The {size} problems as the memo lays them out. {run_title(record)}".replace("\n", ", "),
        )
        for size in sizes
    ]
    return Table("".join(part.html for part in made), "\n\n".join(part.text for part in made))
