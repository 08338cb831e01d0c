"""Ctrl-C while a solution is written through the API, at steps of all the code that runs, libraries included.

The signal comes before every so many lines of Python, wherever they are: in our code or in that of libraries.
Python drops an exception in what takes an object down; the interrupt must come out all the same, as itself, and
nothing may be left.
"""

import os
import shutil

import numpy as np
import pytest
from cases import tried

from kernels.files.format.solution import SolutionWriter

N, STEPS = 4, 2


def ours(file):
    """A handler that is put off may raise within the other files, and that is what they are for."""
    return not file.endswith(("interrupts.py", "signal.py", "pending.py"))


def write(path, way):
    with SolutionWriter(path, N, STEPS, 1, way=way) as writer:
        for step in range(1, STEPS + 1):
            writer.write(step, np.full((N, N, N, 5), float(step)))


@pytest.mark.filterwarnings("ignore")  # finalizers are interrupted, too
@pytest.mark.parametrize("places", [12, pytest.param(400, marks=pytest.mark.weekly)])
@pytest.mark.parametrize("way", ["netcdf", "zarr", "mapped", "positioned"])
def test_control_c_comes_out_of_every_way_and_leaves_nothing(tmp_path, ctrl_c, way, places):
    for _ in range(2):  # what is loaded or compiled once runs no lines afterwards
        write(tmp_path / "first", way)
    lines, _, _ = ctrl_c(0, lambda: write(tmp_path / "counted", way), ours, "line")
    short = []
    for number in np.linspace(1, lines - 1, places).astype(int):
        folder = tmp_path / f"at-{number}"
        folder.mkdir()
        _, place, found = ctrl_c(number, lambda: write(folder / "s", way), ours, "line")  # noqa: B023 - called at once
        left = os.listdir(folder)
        # the number of lines differs by some from run to run: the signal may not have come at all
        if (place and found != "KeyboardInterrupt") or left not in ([], ["s"]):
            short.append(f"{place}: {found}, left {left}")
        shutil.rmtree(folder)
        tried()
    assert not short, short


def test_a_mapped_copy_that_is_interrupted_is_an_interrupt(tmp_path, monkeypatch):
    """The copy holds the mapping when it is interrupted, and the mapping cannot be closed then."""

    def interrupt(*_):
        raise KeyboardInterrupt

    writer = SolutionWriter(tmp_path / "s", N, 1, 1, way="mapped")
    monkeypatch.setattr(np, "copyto", interrupt)
    with pytest.raises(KeyboardInterrupt), writer:
        writer.write(1, np.ones((N, N, N, 5)))
    assert os.listdir(tmp_path) == []
