"""The section *Where does the time of a forecast go?*: three jobs of 2006, and how far they scale."""

from collections.abc import Mapping

import numpy as np

from companion import figures, tables
from companion.bench import Case
from companion.chapters import counts_to, sent
from companion.experiments import experiment
from companion.labels import plural
from companion.late import pd


def shares() -> "figures.Shown":
    """Where the time of three IFS jobs goes, as shares of the wall-clock time."""
    times = tables.load("p5plus", "ifs_times")
    found = pd.DataFrame((100 * times["time"] / times["wall"]).transpose("job", "section").to_pandas())
    found = found[["parallel", "comms", "barrier", "serial", "I/O", "missing"]]
    figure, axis = figures.axes(height=2.6)
    figures.stacked_bars(axis, found, label="share of the elapsed time [%]", printed=True)
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


#: How communication and waiting go with p, the number of processors over the operational one: T ~ p^-a.
_EXPONENTS = (1.0, 0.5, 0.0)


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
    """Speed at ``p`` times the operational number of processors, over p = 1: T(1)/T(p)."""
    p = np.asarray(p, dtype=float)
    time = parts["compute"] / p + parts["communicate"] / p**exponent + parts["serial"]
    return sum(parts.values()) / time


#: Rows between pole and equator of the full grid of the model, and its time step (s), by preset.
_MODEL = {"quick": (32, 600.0), "paper": (200, 120.0), "modern": (320, 75.0)}


def _weak_rows(most: int, share: float) -> int:
    """Rows of a grid with about ``share`` of the work of one of ``most``, which grows as their cube.

    Only rows whose Fourier transforms have the factors 2, 3 and 5, as ``most`` has.
    """
    smooth = [2**a * 3**b * 5**c for a in range(1, 12) for b in range(7) for c in range(5)]
    return min(smooth, key=lambda rows: abs(rows - most * share ** (1 / 3)))


@experiment(
    "p5plus-ranks",
    item="P10",
    title="Shallow-water model on ranks: one model, and one that grows with them",
    rounds=5,
    seconds={"quick": 3, "paper": 120, "modern": 300},
    ranks=2,
)
def ranks(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """One model on 1, 2, 4 … ranks (strong), and models whose work grows with the ranks (weak).

    The largest number of ranks has the same model in both.  A coarser grid has a longer time step.
    """
    from kernels.mpi import scale
    from kernels.shallow_water import ranks as shallow_water

    (most, dt), cases = _MODEL[preset], []
    wanted = [("strong", used, most) for used in counts_to(ranks)]
    wanted += [("weak", used, _weak_rows(most, used / ranks)) for used in counts_to(ranks)[:-1]]
    for scaling, used, rows in wanted:
        problem = shallow_water.Problem(
            truncation=2 * rows - 1, grid=f"F{rows}", dt=dt * most / rows, steps=12, output=6, ranks=used
        )
        parameters = {"truncation": problem.truncation, "scaling": scaling, **sent(scale.shallow_water(problem))}
        label = f"T{problem.truncation}, {plural(used, 'rank')}"
        cases.append(Case(label, shallow_water, problem, threads, parameters, shallow_water.split))
    return cases


def speeds(run) -> "pd.DataFrame":
    """Speed of strong scaling and work a rank of weak scaling, 1 for the most ranks with a processor each.

    Speed is work per time; in strong scaling all cases do the same work.  The case with all ranks is in both.
    """
    frame = figures.case_rows(run, "scaling", "truncation").assign(flops=run["flops"].values)
    whole = frame[(frame["scaling"] == "strong") & (frame["ranks"] == frame["ranks"].max())]
    frame = pd.concat([frame, whole.assign(scaling="weak")], ignore_index=True)
    frame["rate"] = frame["flops"] / frame["median"]
    alone = frame.loc[~frame["flags"].astype(str).str.contains("oversubscribed"), "ranks"]
    base = int(alone.max()) if len(alone) else int(frame["ranks"].min())
    for scaling, part in frame.groupby("scaling"):
        operational = part.loc[part["ranks"] == base, "rate"].iloc[0]
        share = part["ranks"] / base if scaling == "weak" else 1.0
        frame.loc[part.index, "speed"] = part["rate"] / operational / share
    frame["normal"] = base
    return frame.sort_values(["scaling", "ranks"]).reset_index(drop=True)


@ranks.figure
def scaling(runs) -> "figures.Shown":
    """The three jobs by a model of their printed splits, and the spectral model on ranks, 1 at the operational number.

    The band is what the unknown law of communication leaves open, from p^-1 to constant.
    """
    figure, (strong, weak) = figures.axes(2, 1, height=7.6)
    frames, bands, ratio, doubled = [], [], np.geomspace(0.25, 4, 33), []
    for number, (job, cpus) in enumerate(tables.load("p5plus", "ifs_times")["cpus"].to_series().items()):
        each = [model_speed(split(job), ratio, exponent) for exponent in _EXPONENTS]
        ends = {"low": np.min(each, axis=0), "high": np.max(each, axis=0)}
        strong.fill_between(ratio, ends["low"], ends["high"], color=figures.meaning("calculated"), alpha=0.2)
        line = figures.calculated(strong, ratio, each[1], label=f"{job}, 1 = {int(cpus)} CPUs, modelled")
        line.set(linestyle=("-", "--", ":")[number], marker="none")
        bands.append(pd.DataFrame({"machine": f"{job}, modelled", "ratio": ratio, "speed": each[1], **ends}))
        doubled.append("{} {:.2f} to {:.2f}".format(job, *(model_speed(split(job), 2, e) for e in (0.0, 1.0))))
    for run in runs:
        frame = speeds(run)
        frames.append(frame.assign(machine=figures.cpu(run)))
        for name, axis in (("strong", strong), ("weak", weak)):
            part = frame[frame["scaling"] == name]
            place = part["ranks"] / (part["normal"] if name == "strong" else 1)
            factor, label = part["speed"] * part["median"], "spectral model on ranks, measured"
            figures.spread(axis, place, part, lambda t, factor=factor: factor / t, label=label, run=run)
    base = int(frames[0]["normal"].iloc[0])
    strong.plot(ratio, ratio, color=figures.INK, linewidth=0.8, label="proportional")
    figures.log_axis(strong)
    words = f"processors over the operational number (ranks: {base})"
    strong.set(xlabel=words, ylabel="speed over that at 1", title="one job on more processors")
    weak.axhline(1, color=figures.INK, linewidth=0.8)
    weak.set(xlabel="ranks", ylabel=f"speed of a rank, 1 for {base}", ylim=(0, None), title="work grows with the ranks")
    weak.set_xticks(frames[0]["ranks"].unique())
    figures.legend(strong, "under 1 0.45 -0.2")
    listed = "; ".join(
        f"{name} " + ", ".join(f"{row.speed:.2f} with {row.ranks:.0f}" for row in part.itertuples())
        for name, part in frames[0].groupby("scaling")
    )
    return figures.show(
        figure,
        name="p5plus_ranks",
        runs=runs,
        data=pd.concat([*frames, *bands], ignore_index=True),
        title="Strong and weak scaling",
        caption="Speed of a job, 1 at the processors on which it normally runs. Bands are a model of the printed times "
        "and no measurement: the time of communication and barriers goes from shrinking with the processors to staying "
        "as it is. Points are measured: the spectral model of chapter 5 on ranks of one machine, above the same model, "
        f"below one that grows with the ranks. {figures.MARKED} {figures.doubts(runs[0])}",
        alt=f"Upper panel: twice the processors give, by a model of printed times, {'; '.join(doubled)} times the "
        f"speed. Measured speed of the spectral model by ranks, over that with {base}, strong scaling above, weak "
        f"below: {listed}. {figures.MARKED}",
        tables="ifs_times",
    )
