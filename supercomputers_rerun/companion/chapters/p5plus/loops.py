"""The section *What does a second thread on a processor gain?*: five loops, then and now, and a product of matrices."""

from typing import Any

from supercomputers_rerun.companion import figures, host, models, tables
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.p5plus import binding
from supercomputers_rerun.companion.chapters.p5plus.words import about
from supercomputers_rerun.companion.common import np, pd, plural, span
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, UNTESTED, Finding, conclusion
from supercomputers_rerun.companion.experiments import Output, experiment, of

#: The loops as their kernel names them, in the order of the report's table.
LOOPS = ("s1", "s2", "s10", "streaming", "skipping")
#: A program that the report names beside them, without a number; records before it have the loops alone.
PRODUCT = "product"
#: What each does, in words.
_WORDS = {
    "s1": "one chain of additions",
    "s2": "two chains",
    "s10": "ten chains",
    "streaming": "two chains, fed by\nall words of an array",
    "skipping": "two chains, skipping\n(two words of ten)",
    PRODUCT: "product of matrices\n(no number in the report)",
}
#: Kinds of partner of one thread whose gains are in the data; the fused copies, another program, are not drawn.
_FUSED, _SMT = "two fused streams", "SMT"
THEN = "Power5+ 1.9 GHz (2006)"


def case(loop: str, preset: str, kind: str, threads: int, **changes) -> Case:
    """A loop or the product; ``kind`` is the coordinate that tells measured SMT, fused streams and the rest apart."""
    from supercomputers_rerun.kernels.processor import product, smt

    kernel: Any = product if loop == PRODUCT else smt
    problem = kernel.Problem.preset(preset, **({} if loop == PRODUCT else {"loop": loop}), **changes)
    binding = "bound" if problem.binding else "unbound"
    streams = changes.get("streams", 1)
    parameters = {"loop": loop, "kind": kind, "binding": binding, "streams": streams, **of(problem, "threads_per_core")}
    return Case(f"{loop}, {kind}, {binding}, {plural(threads, 'thread')}", kernel, problem, threads, parameters)


def cores() -> int:
    """Cores open to this process; CPUs of unknown cores count as one each."""
    ours, siblings = set(host.affinity_cpus()), host.smt_siblings()
    return len(ours) if siblings is None else sum(bool(ours & set(group)) for group in siblings)


#: Two hardware threads of one core, twice the threads on as many cores, and a whole node, as in the report.
_PAIR, _TWICE = "shared work, two threads on one core", "shared work, twice the threads"
_NODE = "one thread on every core"


@experiment(
    "p5plus-smt",
    item="P5, P6",
    rounds=11,
    seconds={"paper": None, "modern": None},
    needs="affinity",
    unit="GFLOPS",
)
def loops(preset: str, threads: int) -> list[Case]:
    """Five loops and a product of matrices with one and two threads a core, and the factors of the report's model.

    One thread runs each, and all cores at once; one is divided between two cores, and where cores have two threads
    between those of one core.
    """
    wanted: list[tuple] = [("one thread", 1, {}), (_FUSED, 1, {"streams": 2})]
    wanted += [("shared work", 1, {"shared": True})]
    if cores() > 1:
        wanted += [(_NODE, cores(), {}), (_TWICE, 2, {"shared": True})]
    if host.smt().ok and host.usable_cpus() > 1:
        wanted += [("SMT", 2, {"threads_per_core": 2}), (_PAIR, 2, {"shared": True, "threads_per_core": 2})]
    every = [(loop, *each) for loop in (*LOOPS, PRODUCT) for each in wanted if (loop, each[0]) != (PRODUCT, _FUSED)]
    return [case(loop, preset, kind, count, **changes) for loop, kind, count, changes in every]


@loops.outputs_of
def _factors(measurements) -> dict[str, Output]:
    """Of each program the gain of fused streams, S, f, S·f/2, and apart from it the gain that this predicts.

    What a machine without two threads on a core, or without a second core, does not measure is not a number.
    """
    from supercomputers_rerun.kernels.processor.smt import scaling_factor, smt_factor, speedup

    seconds = {(m.parameters["loop"], m.parameters["kind"]): m.median for m in measurements}
    programs = list(dict.fromkeys(loop for loop, _ in seconds))
    kinds = ("one thread", _FUSED, _SMT, "shared work", _PAIR, _TWICE)
    columns: list[Any] = [np.array([seconds.get((loop, kind), np.nan) for loop in programs]) for kind in kinds]
    one, fused, two, shared, pair, twice = columns
    S, f = smt_factor(one, two), scaling_factor(shared, twice)
    found = {
        "S": (S, "throughput of two copies over one, two threads on one core"),
        "S_fused": (smt_factor(one, fused), "gain of two copies fused in one thread: no SMT, and no bound on it"),
        "f": (f, "gain of the same work from twice the threads on twice the cores"),
        "speedup": (speedup(S, f), "S f / 2, predicted from S and f"),
        "speedup_timed": (shared / pair, "the same work by one thread over that of two, on one core: measured"),
    }
    factors = {name: Output(values, "1", "loop", meaning) for name, (values, meaning) in found.items()}
    return {"loop_name": Output(programs, None, "loop", "loop"), **factors}


def then() -> "pd.DataFrame":
    """GFLOPS of one processor by loop and mode, ``no SMT`` and ``SMT``: the report prints those of a node."""
    node = tables.load("p5plus", "smt_benefit")["gflops"].to_pandas().set_axis(list(LOOPS))
    return node / float(tables.load("p5plus", "prose")["physical_cpus"])


def _by_gain() -> list[str]:
    """The loops as rows of figures: the one that gained most from a second thread in 2006 first."""
    old = then()
    return (old["SMT"] / old["no SMT"]).sort_values(ascending=False).index.tolist()


def _in_rows(values, frames) -> "pd.Series":
    """Numbers of the loops under the names of rows, and behind them, not a number, that of the product, if a frame has
    it."""
    drawn = {name for frame in frames for name in frame["what"]}
    rows = [*_by_gain(), *([PRODUCT] if _WORDS[PRODUCT] in drawn else [])]
    return values.reindex(rows).rename(_WORDS)


def _rates(run) -> "dict[str, pd.DataFrame]":
    """By kind of partner, median GFLOPS of each program with its spread, of a node over its processors; not a number
    where a program has no such partner."""
    cases = figures.cases(run, "loop", "kind")
    whole = cases["threads"].where(cases["kind"] == _NODE, 1)
    frame = figures.quantities(cases, rate=lambda seconds: cases["flops"] / seconds / 1e9 / whole)
    programs = frame["loop"].unique()
    found = {str(kind): figures.spread_of(part, "rate").set_axis(part["loop"]) for kind, part in frame.groupby("kind")}
    filled = {kind: rate.reindex(programs) for kind, rate in found.items()}
    return {kind: rate.assign(flagged=rate["flagged"].eq(True)) for kind, rate in filled.items()}


@loops.figure
def rates(runs) -> "figures.Shown":
    """The loops on one processor with one thread, then and now; the data have all processors together, too."""
    old = then()["no SMT"]
    each = [_rates(run) for run in runs]
    frames = []
    for rate in each:
        found = {name: rate[kind] for name, kind in (("host", "one thread"), ("node", _NODE)) if kind in rate}
        frames.append(figures.with_spread(pd.DataFrame({"what": rate["one thread"].index.map(_WORDS)}), **found))
    gain = _in_rows(each[0]["one thread"]["middle"].loc[list(LOOPS)] / old, frames)
    shown = figures.dots(
        runs,
        frames,
        {"host": "{}, today"},
        printed={THEN: old.rename(_WORDS)},
        names=gain.index,
        xlabel="rate of a processor with one thread [GFLOPS]",
        log=True,
        legend_at="above 1 0.4",
        height=0.4 + 0.5 * len(gain),
        name="p5plus_loops",
        title=f"Five loops of 2006 run {gain.min():.1f} to {gain.max():.1f} times as fast today, on "
        f"{figures.cpu(runs[0])}",
        caption="Chains of additions in registers, or fed from an array. At the right: today's rate over that of 2006.",
        tables="smt_benefit",
    )
    figures.at_right(shown.figure.axes[0], [f"{each:.1f} times" for each in gain.dropna()])
    return shown


@loops.figure
def second(runs) -> "figures.Shown":
    """What each loop gains from a second thread on its core, of 2006 and where a machine of today shows two."""
    old, frames = then(), []
    printed = 100 * (old["SMT"] / old["no SMT"] - 1)
    for rates in map(_rates, runs):
        one = rates["one thread"]
        over = {kind: figures.quotient(rates[kind], one) for kind in (_FUSED, _SMT) if kind in rates}
        gains = {kind: figures.converted(found, lambda ratio: 100 * (ratio - 1)) for kind, found in over.items()}
        of_2006 = {"document_gflops_per_cpu": old["no SMT"], THEN: printed}
        frame = pd.DataFrame({"what": one.index.map(_WORDS), **{k: v.reindex(one.index) for k, v in of_2006.items()}})
        frames.append(figures.with_spread(frame, host_gflops=one, **gains))
    with_two = [(run, frame) for run, frame in zip(runs, frames, strict=True) if _SMT in frame]
    rows = _in_rows(printed, [frame for _, frame in with_two])
    gain = rows.dropna()
    shown = figures.dots(
        [run for run, _ in with_two],
        [frame for _, frame in with_two],
        {_SMT: "{}, two threads on one core"},
        printed={THEN: gain},
        names=rows.index,
        xlabel="gain of a second thread on the processor [%]",
        base=0,
        legend_at="above 1 0.4",
        height=0.4 + 0.5 * len(rows),
        name="p5plus_smt",
        data=figures.together(runs, frames),
        title=f"On Power5+ a second thread gained {gain.iloc[0]:.0f} % in a chain of additions, "
        f"{gain.iloc[-1]:.0f} % in a loop that skips",
        caption="At 100 % each thread runs as if it were alone. Several chains run side by side."
        + (" At the right: Power5+." if with_two else ""),
        tables="smt_benefit",
    )
    figures.at_right(shown.figure.axes[0], [f"{each:.0f} %" for each in gain])
    return shown


def with_smt() -> tuple:
    """The first stored run whose machine shows two threads on a core, and by program the rate of both over that of one,
    with its spread; None where no run has them."""
    for run in loops.runs():
        rates = _rates(run)
        if _SMT in rates:
            return run, figures.quotient(rates[_SMT], rates["one thread"]).set_axis(rates["one thread"].index)
    return None, None


def _of_loops(run, name: str) -> Any:
    """A factor of the five loops, without that of the product behind them."""
    return run[name].values[: len(LOOPS)]


def idle() -> str:
    """Why a second thread gains, by three of the report's five loops; ten chains by how busy one keeps the adders."""
    old = then()
    gain = old["SMT"] / old["no SMT"]
    assert gain.iloc[:2].min() > 1.9 > gain.iloc[2:].max() and gain.idxmin() == "skipping" and 1.05 < gain.min() < 1.15
    adders = int(tables.load("p5plus", "prose")["fp_pipes"])
    clock = float(tables.printed("p5plus", "systems").set_index("fact").loc["clock", "p5plus"])  # GHz
    one, both = (100 * old.loc["s10", threads] / (adders * clock) for threads in ("no SMT", "SMT"))
    assert adders == 2 and 75 < one < both <= 100  # each begins an addition a tick
    return (
        "In a *chain* each addition waits for the one before it. Meanwhile the processor can add for a second thread: "
        f"two threads, each with one chain, together got {about(gain.iloc[0])} as much done as one. Ten chains gained "
        f"{100 * (gain['s10'] - 1):.0f} %: one thread already kept the two adders busy for {one:.0f} % of the time "
        f"(calculated). The loop that skips through memory gained {100 * (gain.min() - 1):.0f} %, probably because "
        "both threads waited for the same memory (not measured)."
    )


def outrun(run) -> str:
    """That one thread of today is faster than two of 2006, and where it gains least."""
    rate, old = _rates(run)["one thread"]["middle"], then()
    one = rate.loc[list(LOOPS)]
    assert (one > old["SMT"]).all() and (one / old["no SMT"]).idxmin() == "s10"
    said = "In every loop one thread of today is faster than two threads of 2006 that shared a processor."
    if PRODUCT not in rate:
        return said
    times = rate[PRODUCT] / one["s10"]
    assert times > 2
    return (
        f"{said} Hague also names a product of matrices, without a number. Today it runs at {rate[PRODUCT]:.0f} "
        f"GFLOPS, {times:.1f} times as fast as ten chains do today, because each arithmetic instruction of the product "
        "multiplies and adds several numbers."
    )


def predicted(run) -> str:
    """The report's example of S·f/2, what its timed jobs gained, and what a machine of today shows of it."""
    of_2006 = tables.load("p5plus", "smt_model")
    entered, f, printed = (float(of_2006[name]) for name in ("S_in_formula", "f_in_formula", "speedup"))
    assert abs(models.two_a_core(entered, f) - printed) < 0.01
    both, shown = with_smt()
    today = (
        f"On {figures.cpu(both)} a second thread on a core gains the five loops "
        f"{span(shown['middle'].loc[list(LOOPS)], 1)} times."
        if both is not None
        else "Our machine shows one thread on a core, so that only f can be measured. For loops of the figure above, "
        f"divided between two cores, f is {span(_of_loops(run, 'f'), 1)}."
    )
    return (
        f"Hague puts in S = {entered:g} and f = {f:g}, and gets {printed:g}. He also timed a forecast of one day "
        f"with and without SMT. SMT made it {span(binding.second_thread(), 0)} % faster. {today}"
    )


@conclusion(
    "p5plus-c11",
    place='slide "SMT benefit (on P5+)"',
    says="A second thread doubles the rate of one or two chains of additions, and gains a tenth in a loop that skips.",
)
def second_thread() -> Finding:
    """Gains of the five loops by a second thread on a core, then and on a machine that shows two."""
    then_gain = (then()["SMT"] / then()["no SMT"]).to_numpy()
    known = then_gain.max() > 1.9 and then_gain.min() < 1.2
    printed = f"By the printed rates the gain is {span(then_gain, 1)}."
    run, gain = with_smt()
    if run is None:
        return Finding(
            UNTESTED,
            f"{printed} The loops run here with one thread on a core. It takes a machine that shows two, and no new "
            "code.",
            bears=known,
        )
    chains, skipping = gain.loc[["s1", "s2"]], gain.loc["skipping"]
    doubles, tenth = chains["low"].min() > 1.8, 1 < skipping["low"] and skipping["high"] < 1.3
    return Finding(
        HOLDS if doubles and tenth else PARTLY if doubles or tenth else NOT,
        f"{printed} On {figures.cpu(run)} two chains or one gain {span(chains['middle'], 1)} times, the loop that "
        f"skips {skipping['middle']:.2f} times.",
        bears=known,
    )


@conclusion(
    "p5plus-c12",
    place='slide "SMT: Simultaneous Multi Threading"',
    says="Some programs bound by arithmetic, as products of matrices, or by memory do not gain from SMT.",
)
def no_gain() -> Finding:
    """Gains of a product of matrices, in a record without it of the loop that fills the adders, and of the loop that
    streams through memory."""
    run, gain = with_smt()
    least = 1.05  # what counts as a gain
    multiplied = PRODUCT in (loops.runs()[0] if run is None else run)["loop"]
    name = "the product of matrices" if multiplied else "the loop of ten accumulators"
    if run is None:
        return Finding(
            UNTESTED,
            f"The loops{' and a product of matrices' if multiplied else ''} run here with one thread on a core. It "
            f"takes a machine that shows two. The sentence holds there if neither {name} nor the loop that streams "
            f"through memory gains {100 * (least - 1):.0f} %.",
        )
    full, streaming = gain.loc[PRODUCT if multiplied else "s10"], gain.loc["streaming"]
    gains = [each["low"] > least for each in (full, streaming)]
    return Finding(
        NOT if all(gains) else PARTLY if any(gains) else HOLDS,
        f"On {figures.cpu(run)} a second thread gains {name}, which keeps the adders busy, {full['middle']:.2f} times, "
        f"and the loop that streams through memory {streaming['middle']:.2f} times.",
        bears=True,
    )


@conclusion(
    "p5plus-c13",
    place='slide "SMT for parallel jobs (on P5+)"',
    says="SMT makes a parallel job S·f/2 times as fast: S from two copies on a core, f from twice the threads and "
    "cores.",
)
def product_of_factors() -> Finding:
    """What S and f predict beside what is timed; without SMT the factor that can be measured."""
    run, _ = with_smt()
    if run is None:
        f, job = _of_loops(loops.runs()[0], "f"), binding.twice_the_threads(binding.changes.runs()[0])
        return Finding(
            UNTESTED,
            f"Without SMT only f can be had: {span(f, 1)} for the five loops on two cores, {job.briefly} for a "
            "forecast with twice the threads. It takes a machine that shows two threads on a core, where the gain is "
            "measured apart from S and f.",
            bears=1 < f.min() < f.max() < 2.5,
        )
    off = 100 * (_of_loops(run, "speedup") / _of_loops(run, "speedup_timed") - 1)
    near = np.abs(off) < 10
    return Finding(
        HOLDS if near.all() else PARTLY if near.any() else NOT,
        f"On {figures.cpu(run)} S·f/2 is {np.abs(off).min():.0f} to {np.abs(off).max():.0f} % off the gain that two "
        f"threads on a core bring five loops; {near.sum()} of them within a tenth.",
        bears=bool(np.isfinite(off).all()),
    )
