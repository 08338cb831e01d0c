"""Strided sums: exact at every size, stride, thread count and page policy."""

import errno
import io
import mmap
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from supercomputers_rerun.kernels.files.filesystem import page_aligned
from supercomputers_rerun.kernels.memory import stride
from supercomputers_rerun.kernels.runtime import arrays
from supercomputers_rerun.kernels.runtime.arrays import POLICIES, allocate, can_advise, huge_fraction
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import usable_cpus


def all_ok(problem, result):
    return all(check.ok for check in stride.verify(problem, result))


@settings(deadline=None, max_examples=60)
@given(
    items=st.integers(1024, 6000),
    step=st.integers(1, 10) | st.integers(1, 1024),
    seed=st.integers(0, 100),
    repeats=st.integers(1, 3),
)
def test_sum_is_exact(items, step, seed, repeats):
    problem = stride.Problem(nbytes=4 * items, stride=step)
    state = stride.setup(problem, seed)
    result = stride.run(problem, state, repeats=repeats)
    assert result.sums.tolist() == stride.reference(problem, state).sums.tolist()
    assert all_ok(problem, result)


@pytest.mark.parametrize("step", [*range(1, 10), 100])
def test_every_form_sums_every_rest(step):
    """What is left over behind whole turns has every length; the array ends there."""
    whole = np.empty(3 * max(int(stride.TURN), 8 * step), np.uint32)
    stride.fill(whole, 5)
    for items in range(1, whole.size + 1, 3):
        a, expected = whole[-items:], whole[-items:][::step].sum(dtype=np.uint32)
        assert stride.plain(a, items, step) == expected
        out = np.zeros(3, np.uint64)
        stride.sum_items(a, items, step, 2, out)
        assert out.tolist() == [expected, 2, 0]
        if step in stride.IN_LINES:
            out = np.zeros(3, np.uint64)
            stride.sum_lines(a.view(np.int32), items, step, 2, out)
            assert out.tolist() == [expected, 2, 0]


@pytest.mark.parametrize("step", [1, 7])
def test_every_thread_has_its_own_exact_sum(step):
    problem = stride.Problem(nbytes=40_000, stride=step)
    alone = stride.run(problem, stride.setup(problem))
    state = stride.setup(problem)
    team = stride.run(problem, state, threads=usable_cpus(), repeats=3)
    assert len(team.sums) == usable_cpus()
    assert team.sums[0] == alone.sums[0]
    assert team.sums.tolist() == stride.reference(problem, state).sums.tolist()
    assert all_ok(problem, team)
    if usable_cpus() > 1:
        assert len(set(team.sums.tolist())) > 1, "threads read one and the same array"


@pytest.mark.parametrize("pages", POLICIES)
@pytest.mark.parametrize("binding", [False, hasattr(os, "sched_setaffinity")])
def test_pages_and_binding_change_no_result(pages, binding):
    plain = stride.Problem(nbytes=2**22, stride=3)
    problem = stride.Problem(nbytes=2**22, stride=3, pages=pages, binding=binding)
    result = stride.run(problem, stride.setup(problem))
    assert result.sums.tolist() == stride.run(plain, stride.setup(plain)).sums.tolist()
    assert result.huge is None or 0 <= result.huge <= 1


@pytest.mark.skipif(not can_advise(), reason="this system takes no wish for a page size")
def test_small_pages_are_small_and_alignment_holds():
    small = allocate(2**20, np.uint32, "small")
    small[:] = 1
    assert huge_fraction(small) in (0, None)
    huge = allocate(2**20, np.uint32, "huge")
    assert huge.ctypes.data % 2**21 == 0
    assert allocate(100, np.float64).ctypes.data % 64 == 0


class Unwilling(mmap.mmap):
    """Memory of a kernel that was built without transparent huge pages."""

    def madvise(self, wish):
        raise OSError(errno.EINVAL, "Invalid argument")


@pytest.mark.skipif(not can_advise(), reason="this system takes no wish for a page size")
@pytest.mark.parametrize("policy", ["small", "huge"])
def test_a_kernel_without_huge_pages_gives_default_ones(monkeypatch, policy):
    monkeypatch.setattr(arrays.mmap, "mmap", Unwilling)
    assert not arrays.takes_wishes()
    array = allocate(2**20, np.uint32, policy)
    array[:] = 7
    assert array.size == 2**20 and array.ctypes.data % 2**21 == 0 and (array == 7).all()
    block = page_aligned((3, 512))
    assert block.ctypes.data % 4096 == 0 and not block.any()


SMAPS = """{0:x}-{1:x} rw-p 00000000 00:00 0
Size:               4096 kB
Rss:                4000 kB
{2}7f0000000000-7f0000001000 rw-p 00000000 00:00 0
Rss:                   4 kB
AnonHugePages:         4 kB
"""


@pytest.mark.parametrize(("line", "share"), [("", 0.0), ("AnonHugePages:      3000 kB\n", 0.75)])
def test_the_share_of_huge_pages_is_that_of_the_own_mapping(monkeypatch, line, share):
    """3000 kB of 4000 kB; a kernel without huge pages has no line for them."""
    array = np.zeros(16)
    text = SMAPS.format(array.ctypes.data, array.ctypes.data + 4096, line)
    monkeypatch.setattr(arrays, "open", lambda path: io.StringIO(text), raising=False)
    assert huge_fraction(array) == share


@pytest.mark.parametrize("form", [stride.sum_lines, stride.sum_items])
def test_passes_are_not_optimised_away(form):
    """The compiled loops load and add in every pass: the barrier stands in the code."""
    fresh = kernel(cache=False)(form.py_func)
    fresh(np.zeros(1024, np.int32), 1024, 4, 2, np.zeros(2, np.uint64))
    text = next(iter(fresh.inspect_llvm().values()))
    assert "asm sideeffect" in text and "~{memory}" in text


def test_counted_reads():
    for items, step in ((1024, 1), (1024, 16), (1025, 16), (5000, 7)):
        problem = stride.Problem(nbytes=4 * items, stride=step)
        places = np.arange(0, items, step)
        assert stride.work(problem).bytes == 4 * places.size


@pytest.mark.parametrize(("kernel", "most"), [("memory.stride", 9), ("gridpoint", 35)])
def test_a_kernel_can_be_taken_home(kernel, most):
    """It brings so many modules of this package, packages included."""
    ours = "supercomputers_rerun.kernels"
    program = f"import sys, {ours}.{kernel}; print(*(name for name in sys.modules if name.startswith('{ours}.')))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True, text=True).stdout.split()
    assert len(found) <= most, found
