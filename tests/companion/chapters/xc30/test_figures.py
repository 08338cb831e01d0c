"""What the figures of chapter 5 say where the book's runs say nothing of it; the rest is in the chapter's outputs."""

import numpy as np
from drawing import cases

from companion import tables
from companion.chapters.xc30 import figures


def rate(what, value, scale=1e9, **coordinates):
    """A case of one kind that reaches ``value`` times ``scale`` flop/s in its median sample."""
    each = {"truncation": 0, "fields": 0, "threads": 1, "routine": "", "build": "", "nproma": 0}
    return {**each, "what": what, **coordinates, "flops": int(value * scale), "seconds": [1.0, 1.25, 0.8]}


def transformed(*rows):
    return cases(
        [rate("peak", 100.0)] + [rate("transforms", value, truncation=T, fields=8) for T, value in rows],
        fourier_share=("transform", [17.0] * len(rows)),
    )


def test_without_a_stored_forecast_the_transforms_are_alone():
    assert len(figures.measured_cores(transformed((1279, 40.0)), None, 1279)) == 1
    assert "spectral transforms alone reach 40 %" in figures.shares_now(transformed((1279, 40.0)), None, 1279)
    assert "run xc30-forecast" in figures.whole_said(None, tables.load("xc30", "forecast"), tables.load("xc30", "runs"))


def test_cycles_of_2006_stand_beside_those_counted_here():
    trees = {"LAITLI": tables.load("p5plus", "cpi_laitli"), "CLOUDSC": tables.load("p5plus", "cpi_cloudsc3")}
    counted = {
        "LAITLI": {
            "cpi": 0.5,
            "flops": 110.0,
            "work": 100,
            "shares": {"completing": 0.6, "no instructions": 0.1, "stalled": 0.3},
        }
    }
    frame = figures.cycle_table(trees, counted).set_index(["routine", "where"])
    assert frame.loc[("LAITLI", "Power5, 2006"), "stalled"] == 73.6
    here = frame.loc[("LAITLI", "here")]
    assert list(here) == [60.0, 10.0, 30.0, 0.5, 1.1]
    assert ("CLOUDSC", "here") not in frame.index
    parts = frame[["completing", "no instructions", "stalled"]].sum(axis=1)
    np.testing.assert_allclose(parts, 100.0, atol=0.2)
    assert not figures.cycle_table(trees, {}).isna().any(axis=None)
