"""The section *Where does the time of a forecast go?*: three jobs of 2006, and how far they scale."""

from collections.abc import Mapping

import numpy as np

from companion import figures, tables
from companion.common import pd


def shares() -> "figures.Shown":
    """Where the time of three IFS jobs goes, as shares of the wall-clock time."""
    times = tables.load("p5plus", "ifs_times")
    found = pd.DataFrame((100 * times["time"] / times["wall"]).transpose("job", "section").to_pandas())
    found = found[["parallel", "comms", "barrier", "serial", "I/O", "missing"]]
    colours = ("computing", "communication", "waiting", "serial", "files", "measured")
    figure, axis = figures.axes(height=2.6)
    place, ends = figures.rows(axis, found.index), found.cumsum(axis=1)
    for (section, share), colour in zip(found.items(), colours, strict=True):
        axis.barh(place, share, left=ends[section] - share, height=0.62, label=section, **figures.hollow(colour))
    axis.set_xlabel("share of the elapsed time [%]")
    figures.legend(axis, "above 3")
    most = ", ".join(f"{job} {part} {found.loc[job, part]:.0f} %" for job, part in found.idxmax(axis=1).items())
    return figures.show(
        figure,
        name="p5plus_ifs_times",
        data=times,
        title="Where the time of three jobs goes",
        caption="Shares of the elapsed time, as printed. The two forecasts compute in parallel for three quarters of "
        "it or more. The analysis (4D-Var) spends more on files, on serial work and on waiting at barriers.",
        alt=f"Stacked bars, share of the elapsed time by section for three IFS jobs. Largest section of each: {most}.",
        tables="ifs_times",
    )


def split(job: str) -> dict[str, float]:
    """Seconds of a job that divide by processors, that are exchanged or waited for, and that are serial.

    Computing in threads divides.  Communication and barriers are one part, whose law is not known.  Serial work, input
    and output, and what the instrumentation missed stay as they are.
    """
    part = tables.load("p5plus", "ifs_times")["time"].sel(job=job).to_series()
    return {
        "compute": float(part["parallel"]),
        "communicate": float(part["comms"] + part["barrier"]),
        "serial": float(part[["I/O", "serial", "missing"]].sum()),
    }


def model_speed(parts: Mapping[str, float], p, exponent: float):
    """Speed at ``p`` times the operational number of processors, over p = 1; communication goes with p^-exponent."""
    p = np.asarray(p, dtype=float)
    time = parts["compute"] / p + parts["communicate"] / p**exponent + parts["serial"]
    return sum(parts.values()) / time


def speeds(run) -> "pd.DataFrame":
    """Speed of the model by ranks, 1 for ``normal`` ranks: the most that have a processor each."""
    frame = figures.cases(run, "ranks")
    alone = frame.loc[~frame["flags"].astype(str).str.contains("oversubscribed"), "ranks"]
    base = int(alone.max()) if len(alone) else int(frame["ranks"].min())
    whole = frame.loc[frame["ranks"] == base, "median"].item()
    found = figures.quantities(frame.sort_values("ranks"), speed=lambda seconds: whole / seconds)
    return found.assign(normal=base, ratio=found["ranks"] / base)


def scaling(runs) -> "figures.Shown":
    """The three jobs by a model of their printed splits, and runs of ``xc30-ranks``, 1 at the operational number.

    The band is what the unknown law of communication leaves open, from p^-1 to constant.
    """
    figure, axis = figures.axes(height=4.8)
    bands, ratio = [], np.geomspace(0.25, 4, 33)
    jobs = tables.load("p5plus", "ifs_times")["cpus"].to_series().items()
    for style, (job, cpus) in zip(("-", "--", ":"), jobs, strict=True):
        low, middle, high = (model_speed(split(job), ratio, exponent) for exponent in (0.0, 0.5, 1.0))
        axis.fill_between(ratio, low, high, color=figures.meaning("calculated"), alpha=0.2)
        line = figures.calculated(axis, ratio, middle, label=f"{job}, 1 = {int(cpus)} CPUs, modelled")
        line.set(linestyle=style, marker="none")
        bands.append(pd.DataFrame({"what": f"{job}, modelled", "ratio": ratio, "speed": middle}))
    about = {"what": "spectral model on ranks, measured"}
    frames = [speeds(run).assign(**about, machine=figures.cpu(run)) for run in runs]
    figures.lines(axis, runs, frames, "ratio", "speed", "what", str)
    axis.plot(ratio, ratio, color=figures.INK, linewidth=0.8, label="proportional")
    figures.log_axis(axis)
    words = f"processors over the operational number (ranks: {frames[0]['normal'][0]})"
    axis.set(xlabel=words, ylabel="speed over that at 1")
    figures.legend(axis, "under 1 0.45 -0.2")
    return figures.show(
        figure,
        name="p5plus_ranks",
        runs=runs,
        data=pd.concat([*frames, *bands], ignore_index=True),
        title="Speed on more processors",
        caption="Speed of a job, 1 at the processors on which it normally runs. Bands are a model of the printed times "
        "and no measurement: the time of communication and barriers goes from shrinking with the processors to staying "
        "as it is. Points are measured: the spectral model of chapter 5 on ranks of one machine. "
        f"{figures.MARKED} {figures.doubts(runs[0])}",
        tables="ifs_times",
    )
