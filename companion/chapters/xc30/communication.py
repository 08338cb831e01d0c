"""The sections on time and messages: what ranks do, and what a forecast sends."""

from companion import figures, tables
from companion.bench import Case
from companion.common import np, pd, plural
from companion.experiments import Output, counts_to, experiment, of, sent

#: What ranks do, as the model books it, and in the words of the talk.
CLASSES = {"compute": "CPU", "communication": "Comms", "barrier": "Barrier", "serial": "Serial"}


@experiment("xc30-ranks", item="C2, C3, P9, P10", rounds=5, seconds={"paper": 90, "modern": 300}, ranks=2)
def ranks(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Shallow-water model on ranks: computing, communication, barrier, serial.

    Strong scaling, and the split of the time, which chapter 4 draws too.
    """
    from kernels.mpi import scale
    from kernels.shallow_water import ranks as shallow_water

    cases = []
    for used in counts_to(ranks):
        problem = shallow_water.Problem.preset(preset, ranks=used)
        parameters = of(problem, "truncation", "steps") | sent(scale.shallow_water(problem))
        label = f"T{problem.truncation}, {plural(used, 'rank')}"
        cases.append(Case(label, shallow_water, problem, threads, parameters, shallow_water.split))
    return cases


def _spent(runs, names, cases, *, share: bool = False, **words) -> "figures.Shown":
    """Time by what it was spent on, a row for each of ``names`` and a mark for each case.

    ``cases(run)`` names the cases of a run.  Milliseconds, or with ``share`` per cent of the case's sum of medians.
    The data also have the megabytes that the record counts for a row.
    """
    frames = []
    for run in runs:
        frame, spreads = pd.DataFrame({"what": list(names.values())}), {}
        for number, label in enumerate(cases(run)):
            flags = np.repeat(run["flags"].values[number], len(names))
            part = figures.of_samples([run[f"observed_{name}"].values[number] for name in names], flags)
            factor = 100 / part["middle"].sum() if share else 1e3
            spreads[label] = figures.converted(part, lambda seconds, factor=factor: factor * seconds)
            sent = [run[f"observed_{name} bytes"].values[number] for name in names if f"observed_{name} bytes" in run]
            if sent:
                frame[f"{label} MB"] = np.nanmax(sent, axis=1) / 1e6
        frames.append(figures.with_spread(frame, **spreads))
    words["caption"] += f" {figures.doubts(runs[0])}"
    labels = {label: label for run in runs for label in cases(run)}
    return figures.dots(runs, frames, labels, xlabel="share of the time [%]" if share else "time [ms]", **words)


@ranks.figure
def split(runs) -> "figures.Shown":
    """The four classes of the talk's pies, as shares of the time, by number of ranks."""
    return _spent(
        runs,
        CLASSES,
        lambda run: [plural(count, "rank") for count in run["ranks"].values],
        share=True,
        name="xc30_ranks_split",
        title="Where the time of ranks goes",
        caption="The four classes of the talk's pie charts, for a model of one layer on ranks of one machine.",
    )


# --- what a forecast sends -------------------------------------------------------------------------

#: Ranks of which each number is counted in the model of the halo; more than these are scaled.
_COUNTED = 48
_PARTS = {"transpositions": "transpositions", "halo_fixed": "halo of fixed width", "halo_on_demand": "halo on demand"}


@experiment("xc30-volume", item="C2", simulated=True)
def volume(preset: str, threads: int) -> list[Case]:
    """Bytes and messages of a forecast by number of ranks, counted from the decompositions."""
    return []


@volume.outputs_of
def _counted(measurements) -> dict[str, Output]:
    """Bytes and messages of a model of the report's size, for every number of ranks, by the decompositions."""
    from kernels.mpi import halo, scale

    talk = tables.load("xc30", "forecast")
    truncation, levels, width = (int(talk[name]) for name in ("truncation", "levels", "halo_width"))
    grid, dt = f"N{(truncation + 1) // 2}", float(talk["timestep"])
    found = {}
    for number in sorted({*scale.RANKS[::3], scale.RANKS[-1], *_tasks()}):
        if (moved := scale.forecast(grid, truncation, levels, number)) is None:
            continue
        about = {"width": width, "levels": levels, "ranks": number}
        halos = [halo.Problem(grid, dt, way=way, **about) for way in ("fixed", "on demand")]
        counted = [moved, *(halo.count_messages(each, _COUNTED) for each in halos)]
        found[number] = dict(zip(_PARTS, counted, strict=True))
    outputs = {"ranks": Output(list(found), "1", "ranks", "MPI ranks")}
    steps = round(float(talk["days"]) * 86400 / dt)
    for name, words in _PARTS.items():
        nbytes = [steps * each[name].bytes for each in found.values()]
        messages = [each[name].messages for each in found.values()]
        outputs[f"{name}_bytes"] = Output(nbytes, "byte", "ranks", f"bytes of the forecast, {words}")
        outputs[f"{name}_messages"] = Output(messages, "1", "ranks", f"messages of one step, {words}")
    return outputs


def _tasks() -> list[int]:
    """Tasks of the talk's two runs."""
    return tables.load("xc30", "runs")["tasks"].values.astype(int).tolist()


def counted_of_talk(run) -> "np.ndarray":
    """Terabytes of transpositions and of a halo with its second part on demand, for the tasks of the talk's runs."""
    from kernels.mpi import halo

    parts = run.sel(ranks=_tasks())
    first = halo.Problem.PARTS[0] / sum(halo.Problem.PARTS)
    around = first * parts["halo_fixed_bytes"] + (1 - first) * parts["halo_on_demand_bytes"]
    return ((parts["transpositions_bytes"] + around) / 1e12).values


@volume.figure
def sent_bytes(runs) -> "figures.Shown":
    """Bytes of a forecast by ranks, and the volume that the report states, with the cores of its runs."""
    run, about = runs[0], tables.load("xc30", "runs")
    stated = float(tables.load("xc30", "forecast")["mpi_volume"])
    figure, axis = figures.axes(height=2.9)
    for style, (name, label) in zip((":", "--", "-"), _PARTS.items(), strict=True):
        sent = run[f"{name}_bytes"].values / 1e12
        figures.calculated(axis, run["ranks"].values, sent, label=f"{label}, counted").set_linestyle(style)
    figures.points(axis, about["tasks"], [stated] * 2, line=False, label="whole model, the talk (2014)")
    for value in about["cores"].values:
        axis.axvline(value, color=figures.INK, linestyle=":", linewidth=0.9)
    figures.log_axis(axis)
    axis.set(xlabel="MPI ranks", ylabel="sent in the forecast [TB]")
    figures.legend(axis, "below 2")
    names = [f"{name}_{what}" for name in _PARTS for what in ("bytes", "messages")]
    return figures.show(
        figure,
        name="xc30_volume",
        data=run[["ranks", *names]].to_dataframe().reset_index(drop=True),
        title="What the forecast sends",
        caption="Terabytes of a ten-day forecast, counted from the decomposition and not measured (half-filled). "
        "Squares: what the talk states for the whole model, at the tasks of its two runs; vertical lines: their cores. "
        "On each level six fields are transformed to the grid and four back; three of the wind and six others come "
        "from the halo, with a wind of at most 80 m/s.",
        tables="prose runs machines",
    )


@experiment("xc30-moves", item="C5, P4", rounds=7, seconds={"paper": 60, "modern": 120}, ranks=4)
def moves(preset: str, threads: int, ranks: int = 4) -> list[Case]:
    """Transposition routines of IFS in transforms on a mesh of ranks."""
    from kernels.mpi import scale
    from kernels.spectral import ranks as transforms

    problem = transforms.Problem.preset(preset, ranks=ranks)
    label = f"T{problem.truncation}, {problem.fields} fields, {problem.mesh.W} × {problem.mesh.V} ranks"
    parameters = of(problem, "fields") | sent(scale.transposition(problem.mesh))
    return [Case(label, transforms, problem, threads, parameters, transforms.times)]


_ROUTINES = {
    "TRGTOL": "grid to Fourier",
    "TRLTOM": "Fourier to spectral",
    "TRMTOL": "spectral to Fourier",
    "TRLTOG": "Fourier to grid",
}


@moves.figure
def transpositions(runs) -> "figures.Shown":
    """Time of each transposition routine on the slowest rank."""
    return _spent(
        runs,
        {name: f"{name}, {what}" for name, what in _ROUTINES.items()},
        lambda run: ["slowest rank"],
        name="xc30_moves",
        title="Four transpositions",
        caption=f"Time of each transposition routine on the slowest rank, {runs[0]['label'].values[0]}: inside "
        "transforms, without waiting at a barrier. Runs of the kernel kernels.mpi.moves made the moves alone.",
    )


@experiment("xc30-halo", item="C8", rounds=7, seconds={"paper": 60, "modern": 120}, ranks=2)
def halo(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Semi-Lagrangian halo: fixed width against points on demand."""
    from kernels.mpi import halo

    cases = []
    for way in halo.WAYS:
        problem = halo.Problem.preset(preset, way=way, ranks=ranks)
        parameters = of(problem, "way") | sent(halo.count_messages(problem))
        cases.append(Case(way, halo, problem, threads, parameters, halo.parts))
    return cases


@halo.figure
def halo_parts(runs) -> "figures.Shown":
    """Time of both parts of the semi-Lagrangian halo, and what is sent, for each way of fetching."""
    fixed, second, both = runs[0]["sent_bytes"].values
    return _spent(
        runs,
        {"part 1": "part 1, the wind", "part 2": "part 2, other fields"},
        lambda run: run["way"].values.tolist(),
        name="xc30_halo",
        title="The halo in two parts",
        caption="Time of a step on the slowest rank: a halo of fixed width, its second part on demand, and both on "
        f"demand. All ranks together send {fixed / 1e6:.1f}, {second / 1e6:.1f} and {both / 1e6:.1f} MB in these.",
    )
