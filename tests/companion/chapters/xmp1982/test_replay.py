"""The replay of 1982: what it takes from the tables, what it gives back, and its figures, on a clock of its own."""

import functools

import numpy as np
import pytest

from companion import bench, experiments, tables
from companion.chapters.xmp1982 import model
from companion.chapters.xmp1982.experiments import replay as replayed
from companion.chapters.xmp1982.figures import replayed as figures
from companion.chapters.xmp1982.figures import together
from companion.figures.rendering import offered
from companion.records import runs
from kernels.files import replay
from kernels.runtime.resources import usable_cpus

pytestmark = pytest.mark.skipif(usable_cpus() < 2, reason="two CPUs are needed")


reference = functools.cache(replay.reference)


class Ideal:
    """The kernel on a clock of its own: everything takes exactly its time, on a host of any speed."""

    __name__ = "kernels.files.replay, reference"
    footprint, setup, verify, work = map(staticmethod, (replay.footprint, replay.setup, replay.verify, replay.work))

    def run(self, problem, state, threads=1, repeats=1):
        """The reference, so many times."""
        return [reference(problem) for _ in range(repeats)][-1]


@pytest.fixture(scope="module")
def ideal():
    """Measurements of every case on the reference's clock."""
    kernel = Ideal()
    cases = [
        bench.Case(each.label, kernel, each.problem, 1, each.parameters, each.observe)
        for each in replayed._cases("paper", 1)
    ]
    return bench.measure(cases, rounds=1, budget=0.0, progress=False)


@pytest.fixture(scope="module")
def record(ideal):
    entry = experiments.REGISTER["xmp1982-replay"]
    made = experiments.assemble(entry, "paper", 1, 0, runs.now(), ideal)
    return runs.dataset([runs.validate(made)])


@pytest.fixture(scope="module")
def printed():
    return tables.load("xmp1982", "fig5_1"), tables.load("xmp1982", "fig5_3")


def net(record, name, job=1):
    rows = zip(record["replay_test"].values, record["replay_job"].values, strict=True)
    (row,) = [n for n, (test, number) in enumerate(rows) if (test, number) == (name, job)]
    return float(record["replay_net"].isel(replay_row=row).median())


def test_every_test_of_the_report_is_replayed():
    names = replayed.tests()
    assert [name for name in names if "+" not in name] == list(tables.printed("xmp1982", "fig5_1")["configuration"])
    assert len(names) == 16 and sum("+" in name for name in names) == 7
    again = [case.parameters["test"] for case in replayed._cases("paper", 1) if replayed.SHARED in case.label]
    assert again == [name + replayed.SHARED for name in names if "+" in name and "disk" in name]


def test_no_pair_gives_a_constant():
    assert not any("+" in row for _, row in replayed.CALIBRATED)


@pytest.mark.parametrize("name", [row for table, row in replayed.CALIBRATED if table == "fig5_2"])
def test_rows_that_give_constants_are_met(record, name):
    """To the second in which they are printed; the model's overlap is 94 %, that of sixteen bands 93.75 %."""
    assert net(record, name) == pytest.approx(model.printed_net("fig5_2", name), abs=0.5)


def test_the_post_processing_job_that_gives_its_words_is_met(record):
    row = list(record["replay_test"].values).index("ssd2-sync")
    posts = float(record["replay_posts"].isel(replay_row=row).median())
    clock = float(tables.load("xmp1982", "fig5_1")["pp_clock"].sel(configuration="ssd2-sync"))
    assert posts == pytest.approx(together.JOBS * clock, abs=0.5)


def test_computing_and_moving_are_the_report_s():
    program, devices, system = replayed.machine(16)
    known = model.facts()
    assert program.cpu - 5 * 16.5 == pytest.approx(known["cpu_simulator"])
    assert 2 * program.steps * program.words == pytest.approx(1e6 * known["volume"])
    ssd, bmr, disk = devices
    assert ssd.rate == pytest.approx(1e6 * known["rate_ssd"]) and bmr.rate == pytest.approx(5.44e6, rel=1e-3)
    assert disk.channels == 8 and sum(disk.trunks) == pytest.approx(3.11e6, rel=1e-3)
    assert 0.008 < disk.request < 0.1  # a revolution of a disk or a few
    assert all(seconds > 0 for seconds in system.values())


@pytest.mark.parametrize("bands", [8, 16, 32])
def test_a_request_to_a_disk_gives_the_printed_forecast(bands):
    program, devices, system = replayed.machine(bands)
    problem = replay.Problem((replayed.job("disk4", system),), program, devices, "disk", 1.0)
    assert replay.reference(problem).net[0] == pytest.approx(model.printed_net("fig5_2", "disk4"), rel=1e-9)


def test_outputs_are_seconds_of_1982(ideal):
    one, *_ = ideal
    outputs = replayed.replayed(ideal)
    factor = one.parameters["factor"]
    assert outputs["replay_complete"]["value"][0][0] == pytest.approx(factor * one.observed["complete"][0])
    assert np.shape(outputs["replay_complete"]["value"]) == (1, 20)
    assert np.shape(outputs["replay_net"]["value"]) == (1, 9 + 2 * 11) == np.shape(outputs["replay_posts"]["value"])


def test_what_pairs_lose_comes_from_what_they_share(record, printed):
    found = figures.complete(*printed, record)
    second = figures.worth(found)
    own, four = (second["worth"][second["shared"] == shared] for shared in (False, True))
    assert (own <= 2 + 1e-9).all() and own["ssd1+ssd1"] > own["ssd1+disk4"]
    assert (four < own[four.index]).all()
    assert net(record, "ssd1+disk4", 1) == pytest.approx(net(record, "ssd1-sync"), rel=1e-3)
    assert net(record, "ssd1+disk4", 2) > net(record, "disk4")


def test_figure_sentences_and_table(record, printed):
    shown = figures.bars(*printed, record)
    data = offered(shown)
    assert "nan" not in shown.alt and len(data) == 20 and data["shared"].sum() == 4
    assert data.set_index("test")["printed"]["ssd1+ssd1"].tolist() == 923
    text = figures.said(*printed, record)
    assert "nan" not in text and "1.60 to 1.78" in text
    assert "719 to 769 s" in figures.beside(record)
    table = figures.parts_table(*(tables.printed("xmp1982", f"fig5_{n}") for n in (1, 2, 3, 4)), record)
    assert "nan" not in table.text and "disk × 4, with SSD × 2, four disks" in table.text
