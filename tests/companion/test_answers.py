"""What a record answers: its unit, its flags once, printed numbers beside it, and the same for programs."""

import csv
import io
import json

import pytest

from supercomputers_rerun.companion import answers, common, experiments
from supercomputers_rerun.companion.records import runs

LABELS = {"p5plus-latency": "ns", "nht1-solver": "ms_per_step"}


def newest(experiment):
    return max(runs.COMMITTED.glob(f"{experiment}_*.json"))


@pytest.fixture
def found(record):
    """The answer of a record of two toy cases."""

    def make(**of_first):
        record["measurements"][0] |= of_first
        return answers.answer(record, beside=False)

    return make


@pytest.mark.parametrize("name", sorted(experiments.REGISTER))
def test_every_case_of_every_stored_run_has_its_quantity(name):
    for path in runs.COMMITTED.glob(f"{name}_*.json"):
        said = answers.answer(runs.read(path), beside=False)
        assert all(row.median is not None and row.median > 0 for row in said.rows)


@pytest.mark.parametrize("name", sorted(LABELS))
def test_the_unit_of_the_table_is_that_of_the_figure(name):
    record = runs.read(newest(name))
    shown = experiments.drawn_from(runs.dataset(record))[0][0].data[LABELS[name]]
    assert sorted(row.median for row in answers.answer(record, False).rows) == pytest.approx(sorted(shown))


def test_samples_become_median_and_interval_and_one_sample_has_none(found):
    row = found(samples=[2.0, 1.0, 4.0]).rows[0]
    assert (row.low, row.high, row.samples) == (row.median / 2, row.median * 2, 3)
    row = found(samples=[2.0]).rows[0]
    assert (row.low, row.high) == (None, None)
    assert "one sample" in answers.text(found(samples=[2.0]))


def test_work_that_was_counted_gives_rates_where_the_unit_is_a_plain_time(found):
    work = {"flops": 3e9, "bytes_read": 5e9, "bytes_written": 0, "parts": {}}
    said = found(samples=[2.0], work=work)
    assert said.rows[0].rates == {"GB/s": 2.5, "GFLOPS": 1.5} and "GFLOPS" in answers.text(said)


def test_flags_stand_once_below_the_table(record):
    for case, cpus in zip(record["measurements"], ("0.30", "1.20"), strict=True):
        case["flags"] = {"load": f"others kept {cpus} CPUs busy, more than the 0.25 that count as quiet"}
    record["measurements"][1]["flags"]["drift"] = "the samples move by +9% from first to last"
    said = answers.text(answers.answer(record, beside=False)).splitlines()
    assert sum("others kept" in line for line in said) == 1
    assert "doubtful: others kept 0.30 to 1.20 CPUs busy, more than the 0.25 that count as quiet (all 2 cases)" in said
    assert "a the samples move by +9% from first to last (1 of 2 cases)" in said
    (marked,) = (line for line in said if line.endswith(" a"))
    assert marked.startswith(record["measurements"][1]["label"])


def test_printed_numbers_stand_beside():
    said = answers.answer(runs.read(newest("xmp1982-devices")))
    disk = next(each for each in said.printed if each.row == "one disk")
    assert disk.source == "X-MP 1982" and disk.low < disk.here < disk.high
    assert 500 < disk.ratio < 1000
    median = next(row.median for row in said.rows if row.case == "disk")
    assert median == pytest.approx(disk.here), "the tables above and below say the same"
    assert "Beside the report: transfer rate [MB/s]" in answers.text(said)


def test_bytes_are_those_of_the_figures(call):
    """Whatever the program that measured called them: KiB, or parts of a KB."""
    record = runs.read(newest("p5plus-exchange"))
    first, second, *_ = record["measurements"]
    first["label"], second["label"] = "0.0078125 KB, 1 pair", "512 KiB, 0.5 KB, 1.5 KB, 16 MiB"
    said = [row.case for row in answers.answer(record, beside=False).rows]
    assert said[:2] == ["8 bytes, 1 pair", "512 KB, 512 bytes, 1.5 KB, 16 MB"]
    lines = [line.partition(",")[0] for line in call("show", newest("p5plus-exchange"))[1].splitlines()]
    assert {"8 bytes", "512 bytes", "1 KB", "1 MB"} <= {*lines}
    assert "  reported capacity: 32 KB; 512 KB; 32 MB" in call("show", newest("p5plus-latency"))[1].splitlines()
    assert [common.size(each) for each in (1, 1023, 1536, 2**20)] == ["1 byte", "1023 bytes", "1.5 KB", "1 MB"]


def test_json_and_csv_have_every_case(call):
    path = newest("p5plus-latency")
    cases = runs.read(path)["measurements"]
    whole = json.loads(call("show", path, "--json")[1])
    assert whole["unit"] == "ns a load" and len(whole["cases"]) == len(cases) and whole["record"] == str(path)
    rows = list(csv.DictReader(io.StringIO(call("show", path, "--csv")[1])))
    assert [float(row["median"]) for row in rows] == [case["median"] for case in whole["cases"]]
    assert {row["pattern"] for row in rows} == {"random", "stride"}


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_figures_are_written(call, tmp_path, suffix):
    code, out, _ = call("show", newest("p5plus-latency"), "--figure", tmp_path / f"load{suffix}")
    assert code == 0 and f"figure  {tmp_path / f'load{suffix}'}" in out
    start = {".svg": b"<?xml", ".png": b"\x89PNG", ".pdf": b"%PDF"}[suffix]
    assert (tmp_path / f"load{suffix}").read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("name", "message"), [("load.gif", "must end in .svg, .png or .pdf"), ("no/load.svg", "no folder")]
)
def test_a_figure_that_cannot_be_written_is_refused_before_anything_is_measured(
    call, toy_experiment, toy, tmp_path, name, message
):
    code, _, err = call("run", "toy-sum", "--out", tmp_path / "new", "--figure", tmp_path / name)
    assert code == 2 and message in err and toy.calls == 0 and list(tmp_path.iterdir()) == []


def test_an_unknown_unit_is_refused():
    with pytest.raises(ValueError, match="unit 'furlongs a week' is unknown"):
        experiments.experiment("toy-new", item="T1", unit="furlongs a week")(lambda preset, threads: [])
    assert "toy-new" not in experiments.REGISTER
