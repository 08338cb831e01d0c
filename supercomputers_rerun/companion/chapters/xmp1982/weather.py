"""The section *Would another machine forecast the same?*: one source, compiled for three processors."""

from dataclasses import replace

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.bench import Case
from supercomputers_rerun.companion.chapters.xmp1982 import forecast
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import HOLDS, NOT, PARTLY, Finding, conclusion
from supercomputers_rerun.companion.experiments import Output, Unavailable, experiment


@experiment("xmp1982-builds", item="X9", threads=1, seconds={"quick": 60, "paper": 120})
def builds(preset: str, threads: int) -> list[Case]:
    """One source, three builds.

    The same source for this processor, for vectors of 256 bits, and for the x86-64 of 2003.
    """
    from supercomputers_rerun.kernels.jobs import builds

    if reason := builds.refusal():
        raise Unavailable(f"xmp1982-builds makes builds of its own: {reason}")
    problem = replace(forecast.sized(preset), writeup=3.0)
    return [Case("all builds", builds, problem, threads, {"configuration": "memory"})]


@builds.outputs_of
def _others(measurements) -> dict[str, Output]:
    """Every other build against this one, through the day; and what every build wrote up."""
    from supercomputers_rerun.kernels.jobs import BUILDS

    found, dims = measurements[0].result, "build_number write_up"
    return {
        "build": Output(list(BUILDS)[1:], None, "build_number", "build"),
        "differing": Output(found.differing, "1", dims, "numbers that differ"),
        "largest_T": Output(found.largest_T, "K", dims, "largest difference of temperature"),
        "every_build": Output(list(BUILDS), None, "every_build_number", "build"),
        "checksum": Output(found.checksums, "1", "every_build_number write_up", "CRC-32 of a write-up"),
    }


@builds.figure
def drift(runs) -> "figures.Shown":
    """How far another build of the source is off in temperature, from write-up to write-up of a day (section 4.9)."""
    figure, axis = figures.axes(height=2.6)
    frames = []
    for run in runs:
        off = 1e12 * run["largest_T"].values.T
        frame = pd.DataFrame(off, np.linspace(0.0, 24.0, len(off)), run["build"].values.astype(str))
        for number, (name, line) in enumerate(frame.items()):
            figures.points(axis, frame.index, line, label=name, host=True, index=number, run=run)
        frames.append(frame.rename_axis("hour").reset_index())
    axis.set(xlabel="hours of the forecast", ylabel="off [10⁻¹² K]", xticks=range(0, 25, 6))
    figures.legend(axis, "above 1")
    return figures.show(
        figure,
        runs=runs,
        data=frames,
        name="xmp1982_builds",
        title=f"After a day another build of the forecast is off by {1e12 * apart(runs[0]):.1f} × 10⁻¹² K at most",
        caption="Largest difference of temperature from the build for this processor; one source, compiled three "
        "times.",
    )


def apart(run) -> float:
    """Largest difference of temperature after a day, of all builds, in K."""
    return float(run["largest_T"].values[:, -1].max())


def said(runs) -> list[str]:
    """What another build of the source changes in the first of ``runs``, and what another machine changes."""
    last = runs[0]["differing"].values[:, -1]
    assert last.min() == 0 and 0 < apart(runs[0]) < 1e-11
    # both records are of one commit, 26c3a897
    assert not any(across(runs).values()) and parted_at_once(runs), "on two machines no build gave the same bits"
    return [
        f"If the forecast is compiled so that it rounds in another way, {100 * last.max():.0f} % of its numbers differ "
        "after a day, but no temperature by more than a hundred-billionth of a degree.",
        "On a second machine of today our forecast gives other bits, although the same source was compiled for the "
        "same target processor on both. The forecasts of the two machines already differ at hour 0. But on one "
        "machine all forecasts agree at that hour, however they are compiled. So compiling is probably not the cause. "
        "More probably it is a library: NumPy and its linear algebra choose their routines by the processor (not "
        "measured).",
    ]


@conclusion(
    "xmp1982-c28",
    place="section 4.9",
    says="The same program gives the same bits on both Crays; the X-MP's hardware is not why forecasts differ.",
)
def same_bits() -> Finding:
    """Share of the numbers that differ after a day, by build; whether every machine wrote up the same with a build."""
    run, alike = builds.runs()[0], across(builds.runs())
    last = run["differing"].values[:, -1]
    same, machines = sum(alike.values()), len(_comparable(builds.runs()))
    library = (
        "The forecasts differ from their start on, where all builds of one machine still agree, probably because a "
        "library chooses its routines by the processor (not measured). "
        if parted_at_once(builds.runs())
        else ""
    )
    return Finding(
        HOLDS if same == len(alike) else PARTLY if same or library else NOT,
        f"On {machines} machines {same} of {len(alike)} builds for a named processor wrote up the same bits. {library}"
        "On one, what is compiled decides: a build with the same operations in shorter vectors gives the same bits, "
        f"and one without fused multiply-adds differs in {100 * last.max():.0f} % of the numbers after a day.",
        bears=machines > 1 and last.min() == 0 and last.max() > 0.5,
    )


def across(runs) -> dict[str, bool]:
    """Whether all machines have the same checksums of write-ups, by build.

    Without the first build, which is for the processor of each machine.
    """
    first, *others = ([tuple(row) for row in run["checksum"].values] for run in _comparable(runs))
    names = runs[0]["every_build"].values.astype(str)
    return {name: all(run[n] == first[n] for run in others) for n, name in enumerate(names) if n}


def parted_at_once(runs) -> bool:
    """Whether the first write-ups of machines differ, though those of all builds of a machine are the same."""
    first = [set(run["checksum"].values[:, 0]) for run in _comparable(runs)]
    return all(len(each) == 1 for each in first) and len(set().union(*first)) > 1


def _comparable(runs) -> list:
    """Runs of the preset of the first."""
    return [run for run in runs if run.attrs["preset"] == runs[0].attrs["preset"]]
