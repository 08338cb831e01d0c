"""The figures of what chapter 1 models and simulates draw what they are given."""

import numpy as np

from companion.chapters.xmp1982 import model
from companion.chapters.xmp1982.figures import modelled
from companion.figures.rendering import offered
from kernels.memory import banks


def test_departures_have_a_bar_a_row_and_say_what_is_missed():
    frame = model.residuals()
    shown = modelled.clock_departures(frame)
    assert "<svg" in shown.html and f"{len(frame)} printed net times" in shown.alt and "except 2 named" in shown.alt
    assert len(offered(shown)) == len(frame)


def test_bank_times_count_the_waits():
    trace = banks.trace(banks.Problem(), 60)
    shown = modelled.bank_times(trace.holder, trace.waits)
    waits = [(trace.waits[:, cpu] >= 0).sum() for cpu in range(2)]
    assert all(f"{count} port-cycles of CPU {cpu}" in shown.alt for cpu, count in enumerate(waits))
    assert offered(shown).shape == (60, 17)
    assert np.ptp(waits) > 0
