"""The sections on time and messages: what ranks do, and what a forecast sends."""

from supercomputers_rerun.companion import figures, host, tables
from supercomputers_rerun.companion.bench import Case, Ratio
from supercomputers_rerun.companion.chapters.xc30.common import with_own
from supercomputers_rerun.companion.common import np, pd, plural
from supercomputers_rerun.companion.conclusions import HOLDS, THEN, UNTESTED, Finding, conclusion
from supercomputers_rerun.companion.experiments import counts_to, experiment, of, sent
from supercomputers_rerun.companion.records.runs import partner

#: What ranks do, as the model books it, and in words; the talk has "CPU", "Comms", "waiting" and "Serial".
CLASSES = {"compute": "computing", "communication": "messages", "barrier": "waiting", "serial": "serial"}
_COLOURS = ("computing", "communication", "waiting", "serial")


@experiment(
    "xc30-ranks",
    item="C2, C3, C17, P9, P10, P18",
    rounds=7,
    seconds={"paper": 400, "modern": 400},
    ranks=2,
    unit="ms a step",
    per="steps",
)
def ranks(preset: str, threads: int, ranks: int = 2) -> list[Case]:
    """Shallow-water model on ranks and threads: computing, communication, barrier, serial."""
    from supercomputers_rerun.kernels.shallow_water import ranks as shallow_water

    cases = []
    for used in counts_to(ranks):
        problem = shallow_water.Problem.preset(preset, ranks=used)
        parameters = of(problem, "truncation", "grid", "steps")
        everybody, rest = divmod(ranks * threads, used)  # as many threads in all as on the most ranks
        divided = [everybody] if not rest and threads < everybody <= host.usable_cpus() else []
        for each in [threads, *divided]:
            label = f"T{problem.truncation}, {_team(used, each)}"
            cases.append(Case(label, shallow_water, problem, each, parameters, shallow_water.split))
    return cases


def _team(ranks: int, threads: int) -> str:
    """``2 ranks``, ``1 rank of 2 threads``."""
    return plural(ranks, "rank") + (f" of {plural(threads, 'thread')}" if threads > 1 else "")


def teams(run) -> list[str]:
    """The ranks of each case, and their threads, in words."""
    return list(map(_team, run["ranks"].values, run["threads"].values))


def _parts(run, names, number: int) -> "pd.DataFrame":
    """Seconds of each part of a case, medians with their spread."""
    flags = np.repeat(run["flags"].values[number], len(names))
    return figures.of_samples([run[f"observed_{name}"].values[number] for name in names], flags)


def class_shares(run) -> "pd.DataFrame":
    """Per cent of the time in each class of the talk's charts, a column with its spread for each of :func:`teams`."""
    # output is serial work: the talk has no class of its own for it
    run, spreads = run.assign(observed_serial=run["observed_serial"] + run["observed_output"]), {}
    for number, team in enumerate(teams(run)):
        part = _parts(run, CLASSES, number)
        total = part["middle"].sum()
        spreads[team] = figures.converted(part, lambda seconds, total=total: 100 * seconds / total)
    return figures.with_spread(pd.DataFrame({"what": list(CLASSES.values())}), **spreads)


@ranks.figure
def split(runs) -> "figures.Shown":
    """The four classes of the talk's charts, as shares of the time, by number of ranks."""
    shown = with_own(runs)
    frames = [class_shares(run) for run in shown]
    rows: list[str] = []
    others: list[str] = []
    figure, axis = figures.axes(height=1.3 + 0.7 * sum(run.sizes["case"] for run in shown))
    for run, frame in zip(shown, frames, strict=True):
        for name in teams(run):
            row, start = len(rows), 0.0
            for colour, said, share in zip(_COLOURS, frame["what"], frame[name], strict=True):
                label = said if not row else "_"
                axis.barh(row, share, 0.55, left=start, color=figures.meaning(colour), label=label)
                start += share
            ends = np.minimum(100, [frame[f"{name}_low"][0], frame[f"{name}_high"][0]])
            axis.hlines(row + 0.36, *ends, color=figures.INK, linewidth=1.2)
            computed = f"{frame[name][0]:.1f} %" if frame[name][0] > 99 else f"{frame[name][0]:.0f} %"
            axis.text(3, row, computed, va="center", size=10, color="white", weight="bold")
            rows.append(name + (", this page" if "own" in run.attrs else ""))
            share = frame.set_index("what")[name]
            others.append("\n".join(f"{said} {share[said]:.1f} %" for said in ("waiting", "messages", "serial")))
    figures.rows(axis, rows)
    figures.at_right(axis, others)
    axis.set(xlabel="share of the time [%]", xlim=(0, 100))
    figures.legend(axis, "above 4")
    names = teams(runs[0])
    share = frames[0].set_index("what")[names[-1]]
    said = [f"{name}: " + ", ".join(map("{} {:.3g}".format, frames[0]["what"], frames[0][name])) for name in names]
    return figures.show(
        figure,
        name="xc30_ranks_split",
        runs=shown,
        data=frames,
        alt=f"share of the time [%]; {'; '.join(said)}.",
        title=f"Our model on {names[-1]} computes for {share['computing']:.0f} % of the time "
        f"and waits at barriers for {share['waiting']:.2g} %",
        caption="Ranks: processes that exchange messages. Serial work includes output. Thin black line: the spread "
        f"of computing. {figures.doubts(runs[0])}",
    )


def spent(run) -> str:
    """What ranks do with their time, in sentences."""
    team = teams(run)[-1]
    share = class_shares(run).set_index("what")[team]
    rest = share.drop("computing")
    assert share["computing"] > 80 and rest.idxmax() == "waiting" and rest["waiting"] > 0.5 * rest.sum()
    return (
        f"Our model computes for {share['computing']:.0f} % of its time, when {team} share one machine. Most of the "
        f"rest is waiting at barriers, where the rank that comes first waits for the other. {divided(run)}"
    )


def divided(run) -> str:
    """What one rank with all threads takes beside as many ranks of one thread, in sentences."""
    talk = tables.load("xc30", "runs")
    tasks, threads = (talk[name].astype(int).to_series() for name in ("tasks", "threads"))
    shapes = [f"as {tasks[system]} tasks of {threads[system]} threads on the {system}" for system in tasks.index]
    said = f"The talk's forecast runs {' and '.join(shapes)}. For each machine the talk gives only this division."
    used = (run["ranks"] * run["threads"]).values
    fewest, most = np.flatnonzero(used == used[-1])[[0, -1]]
    if fewest == most:
        return f"{said} Nor does a stored run of ours yet: it takes companion run {ranks.id}."
    names, seconds = teams(run), run["seconds"].values
    ratio = figures.times(seconds[fewest], seconds[most])
    return f"{said} On ours we try two: {names[fewest]} takes {ratio.times} as long as {names[most]}."


def same_bits(run) -> str:
    """Whether a forecast ends with the same bits on one rank and on several (C17), in sentences.

    Empty where the run has no checksums of what it ends with.
    """
    if "observed_checksum" not in run or run.sizes["case"] < 2:
        return ""
    found, few, many = run["observed_checksum"].values, run["ranks"].values[0], run["ranks"].values[-1]
    steps = f"after {plural(run['steps'].values[0], 'step')}"
    if len(np.unique(found[np.isfinite(found)])) > 1:
        return (
            'Do the ranks change the forecast? The talk calls its forecast "bit-reproducible"; ours is not, because '
            f"{steps} its bits on {plural(many, 'rank')} are not always those on {few}."
        )
    return (
        'Do the ranks change the forecast? The talk calls its forecast "bit-reproducible". Ours, too, has the same '
        f"bits {steps} on {plural(many, 'rank')} as on {few}, because each sum is computed by a single rank."
    )


def disturbed(run) -> str:
    """What the system does to equal pieces of work, in a sentence."""
    taken = run["seconds"].values[0]
    most = 100 * (np.nanmax(taken) / np.nanmin(taken) - 1)
    assert 1 < most < 30
    return (
        f"We have no such kernel to compare with. With our full operating system the slowest of {len(taken)} equal "
        f"pieces of work takes {most:.0f} % longer than the fastest."
    )


@experiment(
    "xc30-jitter",
    item="C15",
    threads=1,
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
    axis.set(xlabel="longer than the fastest piece of work by at least [%]", ylabel="share of the pieces [%]")
    quantum = 1e3 * np.nanmin(runs[0]["seconds"].values[0] * runs[0]["repeats"].values[0])
    return figures.show(
        figure,
        name="xc30_jitter",
        runs=runs,
        data=frames,
        title=f"The slowest of {len(frames[0])} equal pieces of work takes {frames[0]['longer'].max():.0f} % longer "
        "than the fastest",
        caption=f"A point is a piece of {quantum:.1f} ms at best. {figures.doubts(runs[0])}",
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
    about = pd.DataFrame({"what": [f"{name}, {what}" for name, what in _ROUTINES.items()]})
    found = [figures.converted(_parts(run, _ROUTINES, 0), lambda seconds: 1e3 * seconds) for run in runs]
    frames = [figures.with_spread(about, **{"slowest rank": one}) for one in found]
    last = frames[0].sort_values("slowest rank").iloc[-1]
    return figures.dots(
        runs,
        frames,
        {"slowest rank": "slowest rank"},
        xlabel="time [ms]",
        legend_at="above 1",
        name="xc30_moves",
        title=f"{last['what'].partition(',')[0]} takes longest of four transpositions, {last['slowest rank']:.0f} ms",
        caption=f"{runs[0]['label'].values[0]}: inside transforms, without waiting at a barrier. "
        f"{figures.doubts(runs[0])}",
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


def _of_step(run) -> "np.ndarray | None":
    """Per cent of a step of the one-layer model that the halo takes, by way; None where that has another grid."""
    model = partner(run, "xc30-ranks")
    if model is None or run["grid"].values[0] != model["grid"].values[0]:
        return None
    last = list(model["ranks"].values).index(run["ranks"].values[0])
    step = model["median"].values[last] / model["steps"].values[last]
    parts = np.nanmedian([run[f"observed_part {part}"].values for part in (1, 2)], axis=2).sum(axis=0)
    return 100 * parts / (step + parts)


#: Ways of fetching, as rows.
_WAYS = {
    "fixed": "all points within\na fixed distance",
    "part 2 on demand": "the wind: all;\nother fields: used",
    "on demand": "on demand:\nonly points used",
}


def halo_table(run) -> "pd.DataFrame":
    """Milliseconds of both parts of the halo, by way of fetching, and of both together; what is sent."""
    about = pd.DataFrame({"what": [_WAYS[way] for way in run["way"].values], "MB": run["sent_bytes"].values / 1e6})
    about["messages"] = run["messages"].values
    if (of_step := _of_step(run)) is not None:
        about["of a step [%]"] = of_step
    parts = {f"part {part}": run[f"observed_part {part}"].values for part in (1, 2)}
    parts["both"] = parts["part 1"] + parts["part 2"]
    return figures.with_spread(
        about, **{name: figures.of_samples(1e3 * one, run["flags"].values) for name, one in parts.items()}
    )


@halo.figure
def halo_parts(runs) -> "figures.Shown":
    """Time of both parts of the semi-Lagrangian halo, and what is sent, for each way of fetching."""
    frames = [halo_table(run) for run in runs]
    nbytes, _, time = fixed_over_demand(runs[0])
    shown = figures.dots(
        runs,
        frames,
        {"both": "{}"},
        xlabel="time of a step's halo [ms]",
        legend_at="above 1",
        height=2.4,
        name="xc30_halo",
        title=f"Fetching only the points used takes {100 / time.medians:.0f} % of the time of all nearby ones, with "
        f"{100 / nbytes:.0f} % of the bytes",
        caption="Halo: points of another rank that a rank may need in a step. In brackets: shares of the first row. "
        f"{figures.doubts(runs[0])}",
    )
    axis = shown.figure.axes[0]
    axis.set_xlim(0, None)
    first, *others = frames[0].itertuples()
    said = [
        f"{row.both:.1f} ms ({100 * row.both / first.both:.0f} %),\n{row.MB:.1f} MB ({100 * row.MB / first.MB:.0f} %)"
        for row in others
    ]
    figures.at_right(axis, [f"{first.both:.1f} ms,\n{first.MB:.1f} MB", *said])
    return shown


def fixed_over_demand(run) -> tuple[float, float, Ratio]:
    """Bytes, messages and time of the halo of fixed width, over those on demand."""
    names = run["way"].values.tolist()
    fixed, demand = (names.index(way) for way in ("fixed", "on demand"))
    nbytes, messages = (run[name].values[fixed] / run[name].values[demand] for name in ("sent_bytes", "messages"))
    time = run["observed_part 1"].values + run["observed_part 2"].values
    return nbytes, messages, figures.times(time[fixed], time[demand])


def by_bytes(run) -> str:
    """Why the halo on demand is faster although it sends more messages."""
    nbytes, messages, time = fixed_over_demand(run)
    assert messages < 2 / 3 and nbytes > 5 and time.medians > 2.5
    return (
        "On demand a rank first asks, so that more messages are sent. Yet fetching the halo takes "
        f"only {100 / time.medians:.0f} % of the time that all points within the distance take, probably because it "
        f"has {100 / nbytes:.0f} % of their bytes (not measured)."
    )


def volume() -> str:
    """What our count of a forecast's messages makes of the talk's."""
    found, stated = counted(), float(tables.load("xc30", "forecast")["mpi_volume"])
    share = found["in all"] / stated
    assert (share > 0.5).all() and (share < 0.67).all() and (found["transpositions"] > 0.7 * found["in all"]).all()
    return (
        f"By the talk, a forecast of ten days sends {stated:.0f} TB. Our count, with assumptions on fields and wind, "
        f"gives {100 * share.mean():.0f} % of that. Most of our count is transpositions: four times in every time step "
        "the fields are divided among the ranks in another way."
    )


@conclusion(
    "xc30-c4",
    place='slide "Comparison between IBM and Cray for IFS T1279 10-day Forecast"',
    says="A node of the Cray has fewer network chips than one of the IBM, so that messages, compared with the rest, "
    "are slower.",
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
    run = jitter.runs()[0]
    taken = run["seconds"].values[0]
    usual, most = 100 * (np.nanpercentile(taken, (95, 100)) / np.nanmin(taken) - 1)
    return Finding(
        UNTESTED,
        f"On {figures.cpu(run)} 95 % of {len(taken)} equal pieces of work take less than {np.ceil(usual):.0f} % longer "
        f"than the fastest, the slowest {most:.0f} %. It takes a second kernel on the same machine to compare with.",
        bears=0 < most < 20,
    )


@conclusion(
    "xc30-c6",
    place='slide "Comms developments: More on-demand SL-Comms using MPI"',
    says="A halo that is fetched on demand moves less and takes less time.",
)
def on_demand() -> Finding:
    """Bytes and time of the halo on demand over those of the fixed one."""
    nbytes, _, less = fixed_over_demand(halo.runs()[0])
    return Finding(
        HOLDS,
        f"The fixed halo moves {nbytes:.0f} times the bytes, and takes {less.times} as long, on two ranks.",
        bears=less.measurable and less.medians > 2 and nbytes > 5,
    )
