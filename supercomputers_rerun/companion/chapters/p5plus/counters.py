"""Programs whose cycles and operations the processor counts, and whose energy the package (P14, P15, P19).

No page shows them: machines that hide their counters, as most virtual ones, have no such run.
"""

from typing import Any

from supercomputers_rerun.companion import counters, figures, host
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.experiments import experiment


class Counted:
    """A kernel that is counted as it runs on one thread; its other words are those of the kernel."""

    def __init__(self, kernel: Any, wanted: dict[str, tuple[counters.Event, ...]]):
        self.kernel = kernel
        self.wanted = wanted  # events by name, found before anything is timed
        #: By name; joules of the package are NaN where hidden.
        self.counts: dict[str, float] = {}

    def __getattr__(self, word: str):
        return getattr(self.kernel, word)

    def counted_in(self, _) -> dict[str, float]:
        """What one repeat of the last run counted, for ``observe``."""
        return self.counts

    def run(self, problem, state, threads: int = 1, repeats: int = 1):
        """The kernel's result."""

        def call():
            return counters.counted(lambda: self.kernel.run(problem, state, threads, repeats), self.wanted)

        (result, counts), joules = counters.energy_used(call)
        self.counts = {name: value / repeats for name, value in (counts | {"joules": joules}).items()}
        return result


@experiment(
    "p5plus-counters",
    item="P14, P15, P19",
    rounds=7,
    seconds={"paper": None, "modern": None},
    needs="counters",
    unit="ms",
)
def counted(preset: str, threads: int) -> list[Case]:
    """Cycles, instructions, operations and energy of a forecast and of two routines whose trees the report prints."""
    from supercomputers_rerun.kernels import shallow_water
    from supercomputers_rerun.kernels.routines import profile

    programs = {name: profile()[name] for name in ("LAITLI", "CLOUDSC")} | {"forecast": (shallow_water, {})}
    cases, wanted = [], counters.events(host.describe()["cpu"]["vendor"])
    for name, (module, fields) in programs.items():
        kernel = Counted(module, wanted)
        problem = module.Problem.preset(preset, **fields)
        cases.append(Case(name, kernel, problem, 1, {"program": name}, kernel.counted_in))
    return cases


@counted.figure
def per_cycle(runs) -> "figures.Shown":
    """What a program does in a cycle, and its operations by the counter over those that its kernel counts."""
    run = runs[0]
    cases = figures.cases(run, "program")
    count = {name: figures.sampled(run, f"observed_{name}")["middle"] for name in ("cycles", "instructions")}
    cases["instructions_per_cycle"] = count["instructions"] / count["cycles"]
    misses = figures.sampled(run, "observed_cache_misses")["middle"]
    cases["cache_misses_per_1000_instructions"] = 1000 * misses / count["instructions"]
    if "observed_flops" in run:
        cases["flops_counted_over_ours"] = figures.sampled(run, "observed_flops")["middle"] / cases["flops"]
    cases["joules"] = figures.sampled(run, "observed_joules")["middle"]
    shown = [name for name in cases if name not in {*figures.TIMES, "threads", "bytes_read", "bytes_written", "flops"}]
    return figures.table(
        cases[shown].dropna(axis=1, how="all"),
        digits=3,
        name="p5plus_counters",
        caption=f"What {figures.cpu(run)} counted while programs ran on one thread: medians.",
    )
