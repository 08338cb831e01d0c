"""The section *What would half the memory banks cost?*: two jobs at once, and a kernel on simulated banks.

The report does not print its kernel.  A loop with two loads and a store in every cycle is taken instead; the cycles
between its strips and before its store, and the banks in which its arrays begin, are searched for on a grid
(:data:`GRID`), the same for both jobs.  All of it is simulated.
"""

from dataclasses import replace
from inspect import signature
from itertools import product

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xmp1982 import forecast, second_cpu
from supercomputers_rerun.companion.chapters.xmp1982.rows import in_rows, observed, over, pale
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import THEN, Finding, conclusion
from supercomputers_rerun.companion.experiments import Output, experiment

#: What is searched: cycles of overhead and of latency, first banks of the second load and of the store.
GRID = {"overhead": (8, 16, 24), "latency": (12, 20, 28), "bank_b": tuple(range(16)), "bank_c": tuple(range(16))}
_RUNS = ("alone", "first of two", "second of two")
_STRIPS, _PASSES = 1000, 4000  # strips of each job in the search, and of the best one
_SHOWN = 160  # clock periods of the picture
_CPUS = ("calculated", "communication", "files", "serial")  # meanings of their colours: nothing is measured or printed


def _ratios(point: dict, passes: int, full: int, half: int, cpus=(1, 2)) -> "np.ndarray":
    """Times in ``half`` of the banks, alone and of two, over the time alone in all of them."""
    from supercomputers_rerun.kernels.memory import banks

    loop = banks.Loop(overhead=point["overhead"], latency=point["latency"])
    job = banks.Job((loop,), (0, point["bank_b"], point["bank_c"]), passes)

    def ends(count: int, cpus: int) -> "np.ndarray":  # cycles of as many equal jobs, in order
        problem = banks.Problem(banks=count, jobs=cpus * (job,))
        return np.sort(banks.run(problem, banks.setup(problem)).ends)

    return np.concatenate([ends(half, count) for count in cpus]) / ends(full, 1)[0]


def printed(table: str) -> "tuple[np.ndarray, int, int]":
    """CPU times in half of the banks over that alone in all of them, and the numbers of banks (Figs 8.1, 8.2)."""
    cpu = tables.load("xmp1982", table)["cpu"]
    full, half = (int(count) for count in cpu["banks"].values)
    times = [cpu.sel(banks=half, jobs=jobs, job=job) for jobs, job in ((1, 1), (2, 1), (2, 2))]
    return np.array(times, float) / float(cpu.sel(banks=full, jobs=1, job=1)), full, half


@experiment(
    "xmp1982-two-jobs",
    item="X20",
    threads=1,
    rounds=11,
    seconds={"paper": 60},
    needs="affinity pair",
    unit="s of CPU time",
    of="cpu",
)
def two_jobs(preset: str, threads: int) -> list[Case]:
    """A degraded post-processing job alone on one CPU, and two at once on two.

    They follow forecasts of four steps, which write up in each.
    """
    from supercomputers_rerun.kernels import jobs

    base, cases = forecast.sized(preset), []
    short = replace(base, hours=(second_cpu.JOBS - 1) * base.dt / 3600, writeup=base.dt / 3600)
    for count, words in ((1, "alone"), (2, "two at once")):
        problem = jobs.Problem(count * (jobs.Job("forecast", short),), "one each", small=True)
        cases.append(Case(words, jobs, problem, threads, {"configuration": words}, _observe))
    return cases


def _observe(result) -> dict[str, float]:
    """Mean CPU time and clock of a job."""
    return {key: float(np.mean([getattr(post, key) for post in result.posts])) for key in ("cpu", "clock")}


@two_jobs.figure
def beside_a_copy(runs) -> "figures.Shown":
    """CPU time and clock of each of two degraded jobs at once over those of one alone (Fig. 8.1), then and now."""
    printed = tables.printed("xmp1982", "fig8_1")[["cpu", "total"]].to_numpy(float)
    rows, old, more = {"cpu": "CPU time", "clock": "total time"}, printed[2:] / printed[1], beside(runs[0])

    def here(run) -> "pd.DataFrame":
        cases = observed(run)
        ratios = [(cases[key].sel(configuration="two at once") / cases[key].sel(configuration="alone").median()).values
                  for key in rows]  # fmt: skip
        return in_rows(rows.values(), bool(cases["flagged"].any()), today=ratios)

    return figures.dots(
        runs,
        [*map(here, runs)],
        {"today": "today, all banks"},
        printed={"X-MP 1982, half of the banks": pd.Series(old.ravel(), len(old) * [*rows.values()])},
        xlabel="two jobs at once, one alone takes 1",
        legend_at="above 2 0.3",
        name="xmp1982_two_jobs",
        title=f"Two jobs at once need {more['cpu'].medians:.2f} times the CPU time of one alone, and take "
        f"{more['clock'].medians:.2f} times as long",
        tables="fig8_1",
        caption="A post-processing job beside a copy of itself: in 1982 in half of the banks, today in all.",
    )


def beside(run) -> dict:
    """CPU time and clock of one of two jobs at once over those of one alone."""
    return {key: over(run, key, "two at once", "alone") for key in ("cpu", "clock")}


@experiment("xmp1982-banks", item="X20, X21", seconds={"paper": None}, simulated=True)
def halved(preset: str, threads: int) -> list[Case]:
    """Half the memory banks, simulated."""
    return []


@halved.outputs_of
def _fit(measurements) -> dict[str, Output]:
    """The search, its best point, and the ratios there."""
    wanted, full, half = printed("fig8_2")
    points = [dict(zip(GRID, values, strict=True)) for values in product(*GRID.values())]
    off = np.array([abs(_ratios(point, _STRIPS, full, half, cpus=(1,))[0] / wanted[0] - 1) for point in points])
    for place in np.flatnonzero(off <= 0.02):  # the others are neither the best nor within 2 % of all three
        off[place] = np.abs(_ratios(points[place], _STRIPS, full, half) / wanted - 1).max()
    best = points[int(off.argmin())]
    return {
        "searched": Output(len(points), "count", "", "points of the grid that were simulated"),
        "within_2_percent": Output(int((off <= 0.02).sum()), "count", "", "points within 2 % of all three ratios"),
        "largest_departure": Output(off.min(), "1", "", "largest departure of the best point from a ratio"),
        **{name: Output(best[name], "1", "", f"{name} of the best point") for name in GRID},
        "run": Output(list(_RUNS), None, "job_run", "run in half of the banks"),
        "fitted_ratio": Output(
            _ratios(best, _PASSES, full, half), "1", "job_run", "time over that alone in all banks, fitted"
        ),
    }


@halved.figure
def halves(runs) -> "figures.Shown":
    """CPU time in half the memory banks over that alone in all (Figs 8.1, 8.2), printed and simulated."""
    (post, full, half), (kernel, *_) = (printed(name) for name in ("fig8_1", "fig8_2"))
    rows = [f"{full} banks, alone", *(f"{half} banks, {each}" for each in _RUNS)]
    frame = pd.DataFrame({"configuration": rows, "post processing": [1.0, *post], "memory kernel": [1.0, *kernel]})
    frame["memory kernel, simulated"] = [1.0, *runs[0]["fitted_ratio"].values]
    figure, axis = figures.axes(height=2.8)
    place = figures.rows(axis, rows)
    for number, name in enumerate(frame.columns[1:3]):
        figures.points(axis, frame[name], place + 0.2 * (number - 1), label=name, index=number, line=False)
    figures.calculated(axis, frame.iloc[:, 3], place + 0.2, label="kernel, simulated", line=False)
    figures.legend(axis, "above 2 0.3")
    axis.set_xlabel("CPU time, all banks and alone = 1")
    return figures.show(
        figure,
        run=runs[0],
        data=frame,
        name="xmp1982_banks",
        title=f"In half of the banks two worst kernels took up to {kernel.max():.2f} times the CPU time, jobs "
        f"{post.max():.2f}",
        tables="fig8_1 fig8_2",
        caption="Alone in all banks takes 1. Half-filled circles are a loop on simulated banks, fitted to the kernel.",
    )


@figures.styled
def bank_times(stride: int = 8, banks: int = 16, cpus: int = 1) -> "figures.Shown":
    """Which CPU holds which of the ``banks`` in each clock period, and above it how many ports of each CPU wait.

    Each of ``cpus`` CPUs (1 to 4) adds vectors whose words lie ``stride`` apart: two loads and a store.
    """
    from matplotlib.patches import Patch

    from supercomputers_rerun.kernels.memory.banks import HEAVY, Job, Problem, trace

    job = Job((replace(HEAVY, strides=3 * (stride,)),))
    seen = trace(Problem(banks=banks, jobs=cpus * (job,)), _SHOWN)
    figure, axis = figures.axes(height=3.8)
    held, waiting = seen.holder.T // 3, (seen.waits >= 0).sum(axis=2)  # three ports a CPU; -1 where a bank is free
    colours = [figures.meaning(name) for name in _CPUS]
    for cpu in range(cpus):
        for bank in range(banks):
            ends = np.flatnonzero(np.diff(held[bank] == cpu, prepend=False, append=False)).reshape(-1, 2)
            spans = [(begin - 0.5, end - begin) for begin, end in ends]
            axis.broken_barh(spans, (bank - 0.42, 0.84), **pale(colours[cpu]))
        base, style = banks + 0.6 + 3 * cpu, {"color": colours[cpu], "linewidth": 0.8}
        axis.stairs(base + 0.9 * waiting[:, cpu], np.arange(_SHOWN + 1) - 0.5, baseline=base, **style)
    used, few = np.flatnonzero((held >= 0).any(axis=1)), banks <= 16  # few rows have room for numbers
    most = int(waiting.sum(axis=1).max())
    named = used.tolist() if few and len(used) <= 8 else [*range(0, banks, max(4, banks // 8))]
    for low, high in zip(used, used[1:], strict=False) if few else ():
        if high - low > 3:
            idle = f"{high - low - 1} idle banks"
            axis.text(_SHOWN / 2, (low + high) / 2, idle, ha="center", va="center", style="italic", size=9)
    names = [f"CPU {cpu} waits" for cpu in range(cpus)] if cpus > 1 else ["CPU waits"]
    places = [*named, *(banks + 1.8 + 3 * cpu for cpu in range(cpus))]
    axis.set_yticks(places, [*map(str, named), *names])
    axis.set(xlim=(-0.5, _SHOWN - 0.5), ylim=(-0.6, places[-1] + 1.6), xlabel="clock period", ylabel="memory bank")
    axis.grid(False)
    if cpus > 1:
        handles = [Patch(label=f"CPU {cpu}", **pale(colours[cpu])) for cpu in range(cpus)]
        axis.legend(handles=handles, loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=cpus)
    for count in range(most + 1) if few and cpus == 1 else ():
        axis.text(1.01, base + 0.9 * count, f"{count} wait", transform=axis.get_yaxis_transform(), va="center", size=9)
    lost = ", ".join(f"{waiting[:, cpu].sum()} port-cycles of CPU {cpu}" for cpu in range(cpus))
    taken = "every word" if stride == 1 else f"one word in {stride}"
    whose = "a CPU's three vectors" if cpus == 1 else f"the vectors of {cpus} CPUs"
    data = pd.DataFrame(seen.holder, columns=[f"bank {bank}" for bank in range(banks)])
    return figures.show(
        figure,
        data=data.rename_axis("cycle").reset_index(),
        name="xmp1982_bank_times",
        title=f"When {whose} take {taken}, they use {len(used)} of {banks} banks, and "
        f"{f'up to {most} vectors wait' if most else 'none waits'}",
        tables="prose",
        caption="Simulated. A bar is a busy bank; above, how many of a CPU's two loads and one store wait. Each begins "
        "in another bank.",
        alt=f"{banks} memory banks over {_SHOWN} simulated clock periods, coloured by the CPU that holds them; above, "
        f"the ports that wait: {lost}.",
    )


def steered() -> "figures.Shown":
    """Banks over time, which the page lets its reader steer by stride, banks and CPUs."""
    from supercomputers_rerun.kernels.memory import banks

    problem, loop = banks.Problem(), banks.HEAVY
    memory = {"waits": banks.WAITS, **{name: getattr(problem, name) for name in ("busy", "sections", "lines")}}
    memory["loop"] = {name: getattr(loop, name) for name in ("vector", "overhead", "latency")}
    memory |= {"starts": problem.jobs[0].starts, "series": [figures.meaning(name) for name in _CPUS]}
    first = {name: each.default for name, each in signature(bank_times).parameters.items()}
    return figures.explorer("banks", {"cycles": _SHOWN, **memory, "start": first}, still=bank_times())


def said(run) -> str:
    """What half of the banks cost the kernel, and how well the simulation meets its times."""
    (job, *_), (kernel, *_) = printed("fig8_1"), printed("fig8_2")
    assert job.max() < 1.01 and kernel[0] < 1.05 and 4 / 3 < kernel.max() < 1.4
    return (
        "The second program does little but load and store. Two copies of it ran on half of the banks. A copy took up "
        f"to {kernel.max():.2f} times the CPU time that it took alone with all banks, mostly due to the other copy. "
        "What the other copy would cost with all banks was not timed. The report does not print this program. So we "
        f"simulated {int(run['searched'])} loops, each a guess at it; {int(run['within_2_percent'])} come within 2 % "
        "of the printed times. The nearest is *kernel, simulated* in the folded figure above."
    )


@conclusion(
    "xmp1982-c27",
    place="section 8",
    says="In half of the banks the post-processing job takes hardly more CPU time; the worst kernel loses a quarter.",
)
def half_the_banks() -> Finding:
    """Printed CPU times in half of the banks."""
    job, kernel = (printed(name)[0] for name in ("fig8_1", "fig8_2"))
    return Finding(
        THEN,
        f"By the report's CPU times the job takes at most {job.max():.2f} times as long, the kernel up to "
        f"{kernel.max():.2f} times. On our machines no banks can be taken away. With all of its banks, a job beside a "
        f"copy of itself takes {beside(two_jobs.runs()[0])['clock'].times} as long.",
        bears=job.max() < 1.02 and kernel.max() > 1.25,
    )
