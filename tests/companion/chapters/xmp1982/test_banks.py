"""The bank simulator's fit to Fig. 8.2."""

import numpy as np
import pytest

from companion import experiments
from companion.chapters.xmp1982.experiments import banks
from companion.chapters.xmp1982.figures import modelled


@pytest.fixture(scope="module")
def record():
    return experiments.run("xmp1982-banks", progress=False)


def test_the_fit_is_within_two_percent_and_says_how_many_points_were_tried(record):
    wanted, full, half = banks.printed()
    assert (full, half) == (32, 16)
    assert np.abs(record["fitted_ratio"].values / wanted - 1).max() == pytest.approx(
        float(record["largest_departure"]), abs=2e-3
    )
    assert float(record["largest_departure"]) < 0.02
    assert int(record["searched"]) == np.prod([len(values) for values in banks.GRID.values()])
    assert 0 < int(record["within_2_percent"]) < int(record["searched"]) / 20
    assert record.attrs["simulated"]


def test_jobs_share_few_banks_and_have_enough_of_many(record):
    """64 banks hold twelve ports of four CPUs; 8 banks do not hold the three of one."""
    ratio = record["predicted_ratio"].values
    fewest, most = ratio[0, :, 1], ratio[-1, :, 1]
    assert (np.diff(fewest) > 0.5).all()
    assert np.ptp(ratio[-1, :2]) < 0.01 and most[-1] < 1.1 * most[0]
    last, least, above = ratio[..., -1], record["least_ratio"].values, record["most_ratio"].values
    assert (least <= last).all() and (last <= above).all() and above[-1, 0] > 1.1 * least[-1, 0]
    assert "64 banks" in modelled.predicted_banks(record).text


def test_a_job_that_seldom_touches_memory_hardly_notices(record):
    slower = record["mixed_ratio"].values
    assert slower[0].max() < 1.01
    np.testing.assert_allclose(slower[-1], record["fitted_ratio"].values, rtol=0.02)
