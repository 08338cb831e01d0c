"""The sections on time and messages: what ranks do, and what a forecast sends."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.common import np, pd, plural
from supercomputers_rerun.companion.conclusions import HOLDS, THEN, UNTESTED, Finding, conclusion
from supercomputers_rerun.companion.experiments import counts_to, experiment, of, sent
from supercomputers_rerun.companion.records.runs import partner

#: What ranks do, as the model books it, and in the words of the talk.
CLASSES = {"compute": "CPU", "communication": "Comms", "barrier": "Barrier", "serial": "Serial"}


@experiment(
    "xc30-ranks",
    item="C2, C3, P9, P10",
    rounds=5,
    seconds={"paper": 200, "modern": 400},
    ranks=2,
    unit="ms a step",
    per="steps",
)
def ranks(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Shallow-water model on ranks: computing, communication, barrier, serial."""
    from supercomputers_rerun.kernels.shallow_water import ranks as shallow_water

    cases = []
    for used in counts_to(ranks):
        problem = shallow_water.Problem.preset(preset, ranks=used)
        parameters = of(problem, "truncation", "grid", "steps")
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


def whole(run):
    """``run`` with its output as serial work, as in the talk, which has no class of its own for it."""
    return run.assign(observed_serial=run["observed_serial"] + run["observed_output"])


@ranks.figure
def split(runs) -> "figures.Shown":
    """The four classes of the talk's pies, as shares of the time, by number of ranks."""
    return _spent(
        [whole(run) for run in runs],
        CLASSES,
        lambda run: [plural(count, "rank") for count in run["ranks"].values],
        share=True,
        name="xc30_ranks_split",
        title="Where the time of ranks goes",
        caption="The four classes of the talk's pie charts, for a model of one layer on ranks of one machine.",
    )


@experiment(
    "xc30-jitter",
    item="C15",
    rounds=500,
    seconds={"paper": None, "modern": None},
    needs="affinity",
    unit="µs a quantum",
)
def jitter(preset: str, threads: int) -> list[Case]:
    """One quantum of work, many times: how much longer the system makes some of them."""
    from supercomputers_rerun.kernels.processor import smt

    return [Case("a chain of additions", smt, smt.Problem(loop="s1", n=2**20))]


@jitter.figure
@figures.styled
def quanta(runs) -> "figures.Shown":
    """Share of the quanta of work that take longer than the fastest by so much and more."""
    figure, axis = figures.axes(height=2.9)
    frames = []
    for run in runs:
        taken = np.sort(run["seconds"].values[0])
        taken = taken[np.isfinite(taken)]
        share = 100 * (1 - np.arange(taken.size) / taken.size)
        frames.append(pd.DataFrame({"longer": 100 * (taken / taken[0] - 1), "share": share}))
        about = {"label": figures.cpu(run), "host": True, "run": run}
        figures.points(axis, frames[-1]["longer"], share, **about).set_markersize(2)
    figures.log_axis(axis, "y")
    axis.set(xlabel="longer than the fastest quantum by at least [%]", ylabel="share of quanta [%]")
    quantum = 1e3 * np.nanmin(runs[0]["seconds"].values[0] * runs[0]["repeats"].values[0])
    return figures.show(
        figure,
        name="xc30_jitter",
        runs=runs,
        data=frames,
        title="One piece of work, many times",
        caption=f"A point is one of {len(frames[0])} quanta, of {quantum:.1f} ms at best. {figures.doubts(runs[0])}",
    )


#: Ranks of which each number is counted in the model of the halo; more than these are scaled.
_COUNTED = 48


def counted() -> "pd.DataFrame":
    """Terabytes of the talk's ten-day forecast on the tasks of each of its runs, counted from the decompositions.

    Transpositions: on each level six fields to the grid and four back.  Halo: three of the wind and six others, with at
    most 80 m/s along rows and 32 m/s across.  ``in all`` has the first part of the halo fixed and the second on demand.
    """
    from supercomputers_rerun.kernels.mpi import halo, mesh

    talk, rows = tables.load("xc30", "forecast"), {}
    truncation, levels, width = (int(talk[name]) for name in ("truncation", "levels", "halo_width"))
    grid, dt = f"N{(truncation + 1) // 2}", float(talk["timestep"])
    first = halo.Problem.PARTS[0] / sum(halo.Problem.PARTS)
    for number in tables.load("xc30", "runs")["tasks"].values.astype(int).tolist():
        about = {"width": width, "levels": levels, "ranks": number}
        halos = [halo.Problem(grid, dt, way=way, **about) for way in ("fixed", "on demand")]
        moved = [mesh.forecast(grid, truncation, levels, number), *(halo.count_messages(it, _COUNTED) for it in halos)]
        rows[number] = [round(float(talk["days"]) * 86400 / dt) * each.bytes / 1e12 for each in moved]
    found = pd.DataFrame(rows, index=["transpositions", "halo of fixed width", "halo on demand"]).T
    around = first * found["halo of fixed width"] + (1 - first) * found["halo on demand"]
    return found.assign(**{"in all": found["transpositions"] + around}).rename_axis("tasks")


@experiment("xc30-moves", item="C5, P4", rounds=7, seconds={"paper": 60, "modern": 120}, ranks=4, unit="ms")
def moves(preset: str, threads: int, ranks: int = 4) -> list[Case]:
    """Transposition routines of IFS in transforms on a mesh of ranks."""
    from supercomputers_rerun.kernels.mpi import mesh
    from supercomputers_rerun.kernels.spectral import ranks as transforms

    problem = transforms.Problem.preset(preset, ranks=ranks)
    label = f"T{problem.truncation}, {problem.fields} fields, {problem.mesh.W} × {problem.mesh.V} ranks"
    parameters = of(problem, "fields") | sent(mesh.transposition(problem.mesh))
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
        "transforms, without waiting at a barrier.",
    )


@experiment("xc30-halo", item="C8", rounds=7, seconds={"paper": 60, "modern": 120}, ranks=2, unit="ms a step")
def halo(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Semi-Lagrangian halo: fixed width against points on demand."""
    from supercomputers_rerun.kernels.mpi import halo

    cases = []
    for way in halo.WAYS:
        problem = halo.Problem.preset(preset, way=way, ranks=ranks)
        parameters = of(problem, "way", "grid", "levels") | sent(halo.count_messages(problem))
        cases.append(Case(way, halo, problem, threads, parameters, halo.parts))
    return cases


def shares(run) -> dict[str, list[float]]:
    """Per cent of a step of the one-layer model on as many ranks and the same grid that each part of the halo takes.

    By way of fetching; nothing where the run is on another grid than the model's.
    """
    model = partner(run, "xc30-ranks")
    if model is None or run["grid"].values[0] != model["grid"].values[0]:
        return {}
    last = list(model["ranks"].values).index(run["ranks"].values[0])
    step = model["median"].values[last] / model["steps"].values[last]
    parts = np.nanmedian([run[f"observed_part {part}"].values for part in (1, 2)], axis=2)
    return dict(zip(run["way"].values, (100 * parts / (step + parts.sum(axis=0))).T.tolist(), strict=True))


@halo.figure
def halo_parts(runs) -> "figures.Shown":
    """Time of both parts of the semi-Lagrangian halo, and what is sent, for each way of fetching."""
    fixed, second, both = runs[0]["sent_bytes"].values
    found = ", ".join(f"{way} {one:.2g} and {two:.2g} %" for way, (one, two) in shares(runs[0]).items())
    return _spent(
        runs,
        {"part 1": "part 1, the wind", "part 2": "part 2, other fields"},
        lambda run: run["way"].values.tolist(),
        name="xc30_halo",
        title="The halo in two parts",
        caption="Time of the halo of a step on the slowest rank: of fixed width, with its second part on demand, and "
        f"with both. All ranks together send {fixed / 1e6:.1f}, {second / 1e6:.1f} and {both / 1e6:.1f} MB in these."
        + (f" Of the sum of a step of the one-layer model and this halo its parts are: {found}." if found else ""),
    )


@conclusion(
    "xc30-c4",
    place='slide "Comparison between IBM and Cray for IFS T1279 10-day Forecast"',
    says="With fewer hub chips a node, messages are relatively slower on the Cray.",
)
def fewer_hubs() -> Finding:
    """What messages take in a run without a network."""
    run = ranks.runs()[0]
    spent = {name: np.nanmedian(run[f"observed_{name}"].values[-1]) for name in CLASSES}
    share = 100 * spent["communication"] / sum(spent.values())
    return Finding(
        THEN,
        f"It belongs to two networks. On one machine messages take {share:.1f} % of the time of our model on "
        f"{plural(run['ranks'].values[-1], 'rank')}.",
        bears=share < 2,
    )


@conclusion(
    "xc30-c5",
    place='slide "Comparison between IBM and Cray for IFS T1279 10-day Forecast"',
    says="A light-weight kernel on the nodes disturbs programs less.",
)
def less_jitter() -> Finding:
    """What one system makes of equal pieces of work."""
    taken = jitter.runs()[0]["seconds"].values[0]
    most = 100 * (np.nanmax(taken) / np.nanmin(taken) - 1)
    return Finding(
        UNTESTED,
        f"On the one system measured the slowest of {len(taken)} equal pieces of work takes {most:.0f} % longer than "
        "the fastest. It takes a second kernel on the same machine to compare with.",
        bears=0 < most < 20,
    )


@conclusion(
    "xc30-c6",
    place='slide "Comms developments: More on-demand SL-Comms using MPI"',
    says="A halo that is fetched on demand moves less and takes less time.",
)
def on_demand() -> Finding:
    """Bytes and time of the halo on demand over those of the fixed one."""
    run = halo.runs()[0]
    names = run["way"].values.tolist()
    fixed, demand = (names.index(way) for way in ("fixed", "on demand"))
    time = run["observed_part 1"].values + run["observed_part 2"].values
    less = figures.times(time[fixed], time[demand])
    nbytes = run["sent_bytes"].values[fixed] / run["sent_bytes"].values[demand]
    return Finding(
        HOLDS,
        f"The fixed halo moves {nbytes:.0f} times the bytes, and takes {less.times} as long, on two ranks.",
        bears=less.measurable and less.medians > 2 and nbytes > 5,
    )
