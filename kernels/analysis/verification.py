"""What an analysis of synthetic observations must show, since the truth is known."""

import numpy as np

from kernels.analysis import chain, synthetic
from kernels.analysis.boxes import ACCEPTED, REJECTED, at_data
from kernels.analysis.problem import NAMES
from kernels.contract import Check, worst

#: Levels on which predicted errors are looked at: those that observations enclose.
INNER = slice(4, 14)
#: Data of fewer than this are too few for a share or a root mean square.
ENOUGH = 30


def _rms(values) -> float:
    return float(np.sqrt(np.mean(np.square(values))))


def errors(result, what: str) -> dict[str, float]:
    """Root mean square errors over the grid of ``first_guess`` or ``standard``, by field, on observed levels."""
    off = getattr(result, what) - result.state.true
    return {name: _rms(off[:, n, synthetic.SEEN]) for n, name in enumerate(NAMES)}


def _ratio(value: float, other: float) -> float:
    """Their quotient; NaN, which fails every check, where there is none."""
    return value / other if other else float("nan")


def _below(name: str, value: float, limit: float) -> Check:
    return Check(name, value, limit, 0.0, bool(value < limit))


def _sizes(fields):
    """Largest magnitude of each field and level, 1 where all is zero."""
    sizes = np.abs(fields).max((0, -1), keepdims=True)
    return np.where(sizes > 0, sizes, 1.0)


def _around(problem, result) -> list[Check]:
    """The steps before and after the main program, every number again; tests hold them against closed forms."""
    guess, increments = result.state.guess, result.standard - result.first_guess
    first = chain.unstaggered(chain.on_pressure(problem, guess))
    final = chain.on_sigma(problem, guess, chain.staggered(increments))
    expected = {"first_guess": first, "fields": chain.corrected(problem, guess, final)}
    checks = []
    for name, true in expected.items():
        off = worst((getattr(result, name) - true) / _sizes(true))
        checks.append(Check.near(f"{name} computed again, relative to its level", off, 0.0, 1e-10))
    return checks


def verify(problem, result) -> list[Check]:
    """Errors lower than those of the first guess and of the data, as low as predicted; gross errors found."""
    state, data = result.state, result.state.data
    before, after = errors(result, "first_guess"), errors(result, "standard")
    parts = {name: getattr(result, name) for name in ("fields", "standard", "first_guess", "errors")}
    checks = [
        Check.near(f"numbers of {name} that are not finite", np.count_nonzero(~np.isfinite(part)), 0, 0)
        for name, part in parts.items()
    ]
    checks += _around(problem, result)
    judged = np.count_nonzero(~np.isin(result.quality, (0, ACCEPTED, REJECTED)))
    checks.append(Check.near("data judged neither accepted nor rejected nor left out", judged, 0, 0))
    checks += [
        _below(f"error of {name} over that of the first guess", _ratio(after[name], before[name]), 1.0)
        for name in NAMES
    ]
    lnps = result.fields[:, -2] - state.pressure, state.guess[:, -2] - state.pressure
    checks.append(_below("error of ln p_s over that of the first guess", _ratio(_rms(lnps[0]), _rms(lnps[1])), 1.0))
    used, off = result.quality == ACCEPTED, (result.standard - state.true)[:, [0, 1, 2, 4]]
    here = at_data(problem, data, off)[used] / data.error[used]
    checks.append(_below("error at the data over that of the data", _rms(here), 1.0))
    off, predicted = (result.standard - state.true)[:, 0, INNER], _rms(result.errors[:, INNER])
    checks.append(Check.near("error of geopotential over the predicted one", _ratio(_rms(off), predicted), 1.0, 0.3))
    gross, judged = data.gross > 0, result.quality > 0
    if (gross & judged).sum() >= ENOUGH:
        found = float((result.quality[gross & judged] == REJECTED).mean())
        checks.append(Check("gross errors found", found, 1.0, 0.1, found >= 0.9))
    lost = float((result.quality[~gross & judged] == REJECTED).mean())
    checks.append(Check("good data rejected", lost, 0.0, 0.02, lost <= 0.02))
    return checks


NO_OUTPUT = {"state": "what the analysis starts from, and the truth"}
BOUNDED = dict.fromkeys(
    ("standard", "errors", "quality"),
    (None, "judged by root mean squares against the truth and by shares; the proof compares every number"),
)
