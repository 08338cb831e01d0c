"""Whole runs of BT beside builds of NPB.

NPB is not part of this repository; an environment variable says where a local build lies, an executable or a folder of
executables whose names hold the class between dots or at the end (``bt.A.x``, ``bt.B``):

===================  ===============================================================
``NPB_BT_PLAIN``     NPB's Fortran as it comes, its usual loops, ``-O3 -march=native``
``NPB_BT_OPENMP``    the same with ``-O3 -fopenmp -march=native``
``NPB_BT_CPP``       any other program that prints NPB's report, such as NPB-CPP
``NPB_BT_BUILDS``    a folder of folders, each with one more build of NPB's Fortran,
                     of other options or its own blocking (``VERSION=blk8``), and
                     named as the build is to be called
===================  ===============================================================

The first is serial and has one thread only.  Of these two the options must be in NPB's report.  What comes and what
has been tuned are compared apart.  ``NPB_BT_CLASSES`` (default ``A``) names the
classes to run.  A call is a whole run: one step, back to the initial field, all steps, verification.
NPB also builds the initial field and the forcing in that time, about one hundredth of it; its clock is
printed with two decimals only and therefore not used.  Whole runs take minutes.
"""

import os
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from supercomputers_rerun.kernels import bt
from supercomputers_rerun.peers import Absent, Comparison

PLAIN, _OPENMP = ("-O3", "-march=native"), ("-O3", "-fopenmp", "-march=native")
#: Peer -> the variable that leads to it, and the options that its report must have, where they are given.
BUILDS: dict[str, tuple[str, tuple[str, ...]]] = {
    "NPB Fortran, serial": ("NPB_BT_PLAIN", PLAIN),
    "NPB Fortran, OpenMP": ("NPB_BT_OPENMP", _OPENMP),
    "NPB, other": ("NPB_BT_CPP", ()),
}
TUNED, _TUNED_NAME = "NPB_BT_BUILDS", "NPB"
_REPORTED: dict[Path, str] = {}  # by program, what its report says about version and compiler


def executable(place: str, name: str) -> Path | None:
    """The program for class ``name`` at ``place``, an executable or a folder of them; or None."""
    path = Path(place)
    wanted = re.compile(rf"\.{re.escape(name)}(\.|$)")
    for candidate in sorted(path.iterdir()) if path.is_dir() else [path]:
        if candidate.is_file() and os.access(candidate, os.X_OK) and wanted.search(candidate.name):
            return candidate
    return None


def npb_run(program: Path, name: str, threads: int, options: tuple[str, ...] = ()) -> bool:
    """Run one NPB program; True if it ran class ``name`` and verified itself.

    ``RuntimeError`` if the program fails, prints no NPB report, or one with other options than ``options``, in any
    order.
    """
    done = subprocess.run(
        [program.resolve()],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": str(threads)},
    )
    verdict = re.search(r"Verification\s*=\s*(\w+)", done.stdout)
    ran = re.search(r"[Cc]lass(?:_npb)?\s*=\s*(\w)", done.stdout)  # NPB-CPP writes class_npb
    if done.returncode or not (verdict and ran):
        raise RuntimeError(
            f"{program.name} ended with status {done.returncode} and without NPB's report; "
            "build it for NPB's BT and run it by hand"
        )
    _REPORTED[program] = said = _said(done.stdout)
    whole = not said.endswith("...")  # NPB cuts long options off
    if options and whole and set(re.findall(r"(?<!\S)-\S+", said)) != {*options}:
        raise RuntimeError(f"{program.name} reports {said}; build it with {' '.join(options)} alone")
    return verdict[1] == "SUCCESSFUL" and ran[1] == name


def _said(report: str) -> str:
    """Version, compiler and its flags from NPB's report; those of them that are there."""
    words = [
        re.search(rf"^\s*{key}\s*=\s*(\S.*?)\s*$", report, re.MULTILINE)
        for key in ("Version", "(?:FC|F77|CC|CCC|CXX)", "(?:FFLAGS|CFLAGS|C_FLAGS|CXXFLAGS)")
    ]
    return ", ".join(word[1] for word in words if word) or "version not reported"


def _places() -> Iterator[tuple[str, str, str | None]]:
    """Name of a peer, the variable that leads to it, and its place; of the tuned builds, None while there are none."""
    for label, (variable, _) in BUILDS.items():
        yield label, variable, os.environ.get(variable)
    folder = Path(os.environ.get(TUNED) or os.devnull)
    builds = sorted(each for each in folder.iterdir() if each.is_dir()) if folder.is_dir() else []
    for build in builds:
        yield f"{_TUNED_NAME} {build.name}", TUNED, str(build)
    if not builds:
        yield _TUNED_NAME, TUNED, None


def versions() -> dict[str, str]:
    """Of NPB's builds that ran, what their reports say."""
    found = {}
    for label, _, place in _places():
        for name in os.environ.get("NPB_BT_CLASSES", "A"):
            said = _REPORTED.get(executable(place, name)) if place else None
            if said:
                found[label] = said
    return found


def _whole_run(threads: int, name: str) -> Iterator[Comparison | Absent]:
    """The build as it comes and other programs, then the tuned builds, of one class."""
    sides: dict[str, dict[str, Callable]] = {"BT whole run": {}, "BT whole run, tuned builds": {}}
    usual, tuned = sides.values()
    for label, variable, place in _places():
        options = BUILDS[label][1] if label in BUILDS else ()
        if not place:
            yield Absent(label, f"{variable} does not name a local build")
        elif (program := executable(place, name)) is None:
            yield Absent(label, f"no executable for class {name} at {variable}")
        elif threads > 1 and options == PLAIN:
            yield Absent(label, "built without OpenMP: it has one thread")
        else:
            side = usual if label in BUILDS else tuned
            side[label] = lambda program=program, options=options: npb_run(program, name, threads, options)
    if not any(sides.values()):
        return
    problem = bt.Problem.preset(name)
    state = bt.setup(problem)

    def ours() -> bool:
        state.reset()
        bt.march(problem, state, 1, threads)
        return all(check.ok for check in bt.verify(problem, bt.run(problem, state, threads)))

    for group, side in sides.items():
        if side:
            yield Comparison(
                group=group,
                label=f"class {name}, {problem.NS} steps",
                ours=ours,
                peers=side,
                check=lambda mine, other: 0.0 if mine and other else np.inf,
                tolerance=0,
                builds=tuned,
            )


def comparisons(threads: int) -> Iterator[Comparison | Absent]:
    """Of the asked classes whole runs against local builds of NPB."""
    for name in os.environ.get("NPB_BT_CLASSES", "A"):
        yield from _whole_run(threads, name)
