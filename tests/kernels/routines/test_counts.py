"""The operation counts of kernels.routines, from the kernels themselves run with numbers that count."""

import platform
import re

import numba
import pytest

from supercomputers_rerun.kernels.routines import cloud, elementary, interpolation, saturation, stencil
from supercomputers_rerun.kernels.routines.blocking import SCALAR, VECTOR, Blocks


class Counting:
    """A number that counts operations, and divisions, roots and exponentials apart."""

    tally: dict

    def _one(self, *_):
        Counting.tally["flops"] += 1
        return Counting()

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _one

    def _divide(self, *_):
        Counting.tally["divides"] += 1
        return self._one()

    __truediv__ = __rtruediv__ = _divide

    def __neg__(self):
        return Counting()  # a sign, folded into the next operation


def special(cost):
    def function(*_):
        Counting.tally["special"] += 1
        Counting.tally["flops"] += cost
        return Counting()

    return function


def fma(*_):
    Counting.tally["flops"] += 2
    return Counting()


#: what takes the place of the names the kernels use; copies and comparisons are no operations
NUMBERS = {
    "fma": fma,
    "sqrt": special(1),
    "floor": lambda x: Counting(),
    "less": lambda a, b: True,
    "any_true": lambda mask: True,
    "select": lambda mask, a, b: Counting(),
    "load_as": lambda *_: Counting(),
    "gather_two": lambda *_: (Counting(), Counting()),
    "gather_four": lambda *_: (Counting(), Counting(), Counting(), Counting()),
    "store": lambda *_: None,
    "one_by_one": lambda x: x,
    "wide": lambda value, x: Counting(),
    "exp": special(elementary.EXP_FLOPS),
    "exp2": special(elementary.EXP2_FLOPS),
}


def count(monkeypatch, modules, kernel, *arguments):
    """Tally of one call of the uncompiled kernel, on one column at a time."""
    for module in modules:
        for name, value in list(vars(module).items()):
            if name in NUMBERS:
                monkeypatch.setattr(module, name, NUMBERS[name])
            elif hasattr(value, "py_func"):
                monkeypatch.setattr(module, name, value.py_func)
    Counting.tally = dict.fromkeys(("flops", "divides", "special"), 0)
    getattr(kernel, "py_func", kernel)(*arguments)
    return dict(Counting.tally)


def tally(problem, module):
    work = module.work(problem)
    return {
        "flops": work.flops,
        "divides": dict(work.parts).get("divides", 0),
        "special": dict(work.parts).get("special functions", 0),
    }


def fields(number):
    return (None,) * number


@pytest.mark.parametrize("iterations", [1, 2, 5])
def test_saturation(monkeypatch, iterations):
    problem = saturation.Problem(columns=5, levels=2, iterations=iterations)  # four columns abreast, and one
    how = iterations, SCALAR, Blocks(1, 2, 5, 5), 0
    counted = count(monkeypatch, [saturation], saturation.adjust, *fields(5), *how)
    assert counted == tally(problem, saturation)


def test_cloud(monkeypatch):
    problem = cloud.Problem(columns=3, levels=2)
    counted = count(monkeypatch, [cloud], cloud.sweep, *fields(3), 0, 0, 600.0, SCALAR, Blocks(1, 2, 3, 3), 0)
    assert counted == tally(problem, cloud)


@pytest.mark.parametrize("scheme", interpolation.WRITES)
def test_interpolation(monkeypatch, scheme):
    problem = interpolation.Problem(nx=4, ny=4, levels=4, scheme=scheme)
    mesh = stencil.Mesh(1, 1, 1)
    arguments = (*fields(2), mesh, 3.0) if scheme == "weights" else (*fields(3), mesh)
    counted = count(monkeypatch, [stencil], getattr(stencil, scheme), *arguments, SCALAR, Blocks(1, 4, 16, 16), 0)
    assert counted == tally(problem, interpolation)


@pytest.mark.parametrize("name, flops", [("exp", elementary.EXP_FLOPS), ("exp2", elementary.EXP2_FLOPS)])
def test_exponentials(monkeypatch, name, flops):
    monkeypatch.setattr(elementary, "bits", lambda x: 0)  # a power of two is added to the exponent, at no cost
    monkeypatch.setattr(elementary, "from_bits", lambda x: x)
    assert count(monkeypatch, [elementary], getattr(elementary, name), Counting())["flops"] == flops


# What the compiler made of the two builds

X86 = platform.machine().lower() in ("x86_64", "amd64")
PACKED = re.compile(r"\bv?(?:add|sub|mul|div|max|min|sqrt|fn?m(?:add|sub)\d*)pd\b")
SINGLE = re.compile(r"\bv?(?:add|sub|mul|div|max|min|sqrt|fn?m(?:add|sub)\d*)sd\b")


def assembly(kernel, arguments):
    """The kernel compiled anew (code from the cache shows no assembly) for these arguments."""
    fresh = numba.njit(nogil=True, error_model="numpy")(kernel.py_func)
    fresh(*arguments)
    return "\n".join(fresh.inspect_asm().values())


@pytest.mark.skipif(not X86, reason="reads x86-64 instruction names")
@pytest.mark.parametrize("width", [SCALAR, VECTOR], ids=["scalar", "vector"])
def test_builds_use_the_registers_they_name(width, module=saturation, kernel="adjust"):
    build = "scalar" if width == SCALAR else "vector"
    problem, captured = module.Problem(columns=8, levels=2, build=build), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, kernel, lambda *arguments: captured.append(arguments))
        module.run(problem, module.setup(problem))
    code = assembly(getattr(module, kernel), captured[0])
    packed, single = len(PACKED.findall(code)), len(SINGLE.findall(code))
    if build == "vector":
        assert packed > 20 and packed > 5 * single
    else:
        assert single > 20 and single > 5 * packed
