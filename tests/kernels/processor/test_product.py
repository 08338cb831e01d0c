"""The product of matrices: exact in every block, divided or not, on registers."""

import os
import re

import numpy as np
import pytest

from supercomputers_rerun.kernels.processor import product
from supercomputers_rerun.kernels.runtime.jit import kernel
from supercomputers_rerun.kernels.runtime.resources import usable_cpus


@pytest.mark.parametrize("shared", [False, True])
@pytest.mark.parametrize("n", [48, 96, 144])
def test_every_thread_makes_its_product_or_its_rows_of_one(n, shared):
    threads = min(2, usable_cpus())
    problem = product.Problem(n=n, shared=shared, binding=False)
    result = product.run(problem, product.setup(problem, seed=3), threads, repeats=2)
    a, b = product.matrices(problem, 3)
    assert len(result.c) == (1 if shared else threads)
    for c in result.c:
        np.testing.assert_array_equal(c, a @ b)


def test_rows_of_others_are_left_alone():
    a, b = product.matrices(product.Problem(), 1)
    c = np.full((48, 48), np.nan)
    product.product(a, b, c, (6, 18), 1)
    assert np.isnan(c[:6]).all() and np.isnan(c[18:]).all()
    np.testing.assert_array_equal(c[6:18], (a @ b)[6:18])


def test_work_counts_two_operations_a_term():
    problem = product.Problem(n=96)
    assert product.work(problem, 2).flops == 2 * 2 * 96**3
    assert product.work(product.Problem(n=96, shared=True), 2).flops == 2 * 96**3
    assert product.work(problem).bytes == 3 * 8 * 96**2


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="this system cannot bind threads")
def test_binding_changes_no_number():
    bound = product.Problem()
    np.testing.assert_array_equal(
        product.run(bound, product.setup(bound)).c,
        product.reference(bound, product.setup(bound)).c,
    )


def test_twelve_sums_stay_in_registers():
    """A block of machine code with twelve fused multiply-adds has as many registers that they add to."""
    loop = kernel(product.product.py_func, cache=False)  # a cached one keeps no assembly
    a, b = product.matrices(product.Problem(), 0)
    loop(a, b, np.zeros_like(a), (0, 48), 1)
    text = next(iter(loop.inspect_asm().values()))
    if "vfmadd" not in text:
        pytest.skip("no AVX with fused multiply-add here")
    targets = [re.findall(r"vfmadd\w+\s.*%([yz]mm\d+)$", part, re.M) for part in re.split(r"\n\.LBB\w+:", text)]
    assert max(len(set(part)) for part in targets) == 2 * product.ROWS
