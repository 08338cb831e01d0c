"""Base code, processors, rates and foreign words: the figures say what records and tables say."""

import numpy as np
import pytest
import xarray as xr
from drawing import offered

from companion import tables
from companion.chapters.nht1 import figures as nht1

ATTRIBUTES = {"machine": "toy", "preset": "quick", "date": "2026-01-01T00:00:00Z", "experiment": "nht1-base"}


def base_record():
    columns = {
        "base_N": [12, 12],
        "base_code": ["fast", "slow"],
        "base_T_C": [1.0, 10.0],
        "base_T_T": [1.5, 10.6],
        "base_zeta": [0.5, 0.06],
        "base_expected": [0.5, 0.05],
    }
    return xr.Dataset({name: ("base", np.array(values)) for name, values in columns.items()}, attrs=ATTRIBUTES)


def test_a_slow_base_code_makes_the_same_writing_look_small():
    frame = offered(nht1.base_code(base_record()))
    assert frame["zeta"].tolist() == [50.0, 6.0] and frame["expected"].tolist() == pytest.approx([50.0, 5.0])


def runs_record():
    columns = {
        "run_N": [64, 64, 102],
        "run_threads": [1, 2, 1],
        "run_way": ["array", "array", "other"],
        "T_T": [2.2, 1.3, 5.0],
        "T_C": [2.0, 1.0, 4.0],
        "R_IO": [100e6, 200e6, 50e6],
        "zeta": [0.1, 0.3, 0.25],
    }
    return xr.Dataset({name: ("run", np.array(values)) for name, values in columns.items()}, attrs=ATTRIBUTES)


def test_the_model_keeps_the_writing_and_divides_the_computing():
    frame = offered(nht1.by_processors(runs_record(), tables.printed("nht1", "overheads"), 4, "array"))
    model = frame[frame["kind"] == "model"]
    assert model["zeta"].tolist() == pytest.approx([10.0, 20.0, 30.0, 40.0])
    assert frame[frame["kind"] == "measured"]["zeta"].tolist() == pytest.approx([10.0, 30.0])
    with pytest.raises(ValueError, match="way = 'none'"):
        nht1.by_processors(runs_record(), tables.printed("nht1", "overheads"), 4, "none")


def test_surviving_rates_are_those_of_the_tables():
    read = tables.load("nht1", "systems"), tables.load("nht1", "prose")
    frame = nht1.surviving_rates(*read, tables.printed("nht1", "table_1"), tables.printed("nht1", "figure_1_axes"))
    rates = dict(zip(frame["what"], frame["rate"], strict=True))
    nbytes = 5 * 8 * 102**3 * 40
    assert rates["CM-2, whole run, at most"] == pytest.approx(nbytes / (18 * 3600) / 1e6)
    assert rates["iPSC/860, whole run, least"] == pytest.approx(nbytes / 3600 / 1e6)
    assert rates["iPSC/860, whole run, most"] == pytest.approx(nbytes / 2600 / 1e6)
    drawn = offered(nht1.rates_then_and_now(frame, runs_record()))
    assert drawn["rate"].iloc[-1] == pytest.approx(50.0) and len(drawn) == len(frame) + 1
