"""The page of a reader's own machine: what it answers, and where its numbers come from."""

import base64
import io
import re

import numpy as np
import pandas as pd
import pytest
from synthetic import on

from supercomputers_rerun.companion import suite
from supercomputers_rerun.companion.figures import rendering
from supercomputers_rerun.companion.pages import report, synthesis
from supercomputers_rerun.companion.records import runs

MADE_UP = "Slowpoke 1000"
#: Times of the made-up machine over those of the record that it is made of.
SLOWER = 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    found = tmp_path_factory.mktemp("records")
    records = [runs.read(sorted(runs.COMMITTED.glob(f"{name}_*.json"))[-1]) for name in suite.ASKED]
    for record in records:
        runs.save(on(MADE_UP, SLOWER, record | {"machine": records[0]["machine"]}), found)
    (found / "p5plus-smt_notes.json").write_text("{}")  # somebody else's
    return found


@pytest.fixture(scope="module")
def made(folder):
    """The page, the points that it has, and the experiments whose runs these take."""
    found, asked, points, each = [], set(), synthesis.every, runs.each
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rendering, "_drawn", lambda *_: "<svg></svg>")

        def watched(*names):
            with pytest.MonkeyPatch.context() as inner:
                inner.setattr(runs, "each", lambda name, folder=None: (asked.add(name), each(name, folder))[1])
                found.append(points(*names))
            return found[0]

        patch.setattr(synthesis, "every", watched)
        return report.html(folder), found[0], asked


@pytest.fixture(scope="module")
def html(made):
    return made[0]


def test_each_answer_is_a_sentence_with_a_number_of_this_machine(html, folder):
    answers = re.findall(r"<li><p>(.*?)</p><small>(.*?)</small></li>", html)
    assert len(answers) == len(report.ANSWERS) and all(caveat.endswith(".") for _, caveat in answers)
    run = runs.load(next(folder.glob("xmp1982-devices_*.json")))
    row = list(run["test"].values).index("disk")
    rate = np.median(8 * float(run["mwords"][row]) / run["observed_clock"].values[row])
    assert f"{rate:.3g}" in next(sentence for sentence, _ in answers if "MB/s" in sentence)
    assert "preset" not in "".join(caveat for _, caveat in answers)  # all are of the report's size


def test_every_figure_has_the_machine_beside_the_reports_and_the_books_machines(made):
    html, points, _ = made
    mine = {key for key, frame in points.items() if (frame["order"] < 0).any()}
    assert mine >= {"files", "computing", "rate", "peak", "hour"}
    on_axes = html[html.index("On one axis") : html.index("Figures of the chapters")]
    figures = re.findall(r"<figure.*?</figure>", on_axes, re.DOTALL)
    assert len(figures) == 1 + len(report.AXES)
    for figure in figures:
        packed = re.search(r'href="data:text/csv;charset=utf-8;base64,([^"]+)"', figure)[1]
        words = pd.read_csv(io.BytesIO(base64.b64decode(packed)))["machine"].tolist()
        assert (
            "this machine" in words and len(set(words)) > 2 and {"D (AMD EPYC Zen 4)", "F (AMD EPYC Zen 3)"} & {*words}
        )
    chapters = html[html.index("Figures of the chapters") :]
    assert chapters.count("<section>") == 5 and chapters.count("<figure") > 5
    assert not (synthesis.file_rates()["order"] < 0).any()  # outside, the book's machines alone


def test_the_page_needs_no_other_file(html):
    assert not re.search(r"""(?:src|href)=["'](?!data:|#)""", html) and "<script" not in html
    assert not re.search(r"url\((?!#)", html)


def test_a_quick_run_says_that_its_size_is_not_the_reports(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(rendering, "_drawn", lambda *_: "<svg></svg>")
    for path in folder.glob("xmp1982-[df]*.json"):
        runs.save(runs.read(path) | {"preset": "quick"}, tmp_path)
    html = report.html(tmp_path)
    answers = re.findall(r"<li><p>(.*?)</p><small>(.*?)</small></li>", html)
    assert len(answers) == 2
    assert all("Measured in preset quick" in caveat for _, caveat in answers)


def test_a_doubtful_number_is_no_headline_and_a_share_above_one_is_refused(folder, tmp_path, monkeypatch):
    """One sample each, taken beside others, and transforms at three times the peak that was measured with them."""
    monkeypatch.setattr(rendering, "_drawn", lambda *_: "<svg></svg>")
    busy = {"load": "others kept 1.50 CPUs busy, more than the 0.25 that count as quiet"}
    for name in ("xc30-transforms", "p5plus-smt", "nht1-solver"):
        record = runs.read(next(folder.glob(f"{name}_2*.json"), None) or next(folder.glob(f"{name}_paper*.json")))
        for case in record["measurements"]:
            faster = 3 * (name == "xc30-transforms" and case["parameters"]["what"] != "peak") or 1
            samples = [min(case["samples"]) / faster]
            case |= {"samples": samples, "observed": {}, "flags": busy, "other_load": 1.5}
        runs.save(record | {"outputs": {}}, tmp_path)
    html = report.html(tmp_path)
    answers = re.findall(r"<li( class=\"doubtful\")?><p>(.*?)</p><small>", html)
    assert len(answers) == 2 and all(mark and report.DOUBTFUL in said and "…" in said for mark, said in answers)
    begins = html[html.index("<h1>") : html.index('<ul class="answers">')]
    assert "This machine was busy: others kept 1.5 of its 2 CPUs at work" in begins
    assert re.search(r"spectral transforms .*, share of peak [^:]*: 2\d\d % is more than the whole", begins)
    assert " % of the peak measured with it" not in html
    titles = re.findall('<p class="rerun-title"[^>]*>(.*?)</p>', html[html.index("Figures of the chapters") :])
    assert titles and {*titles} == {report.DOUBTFUL.rstrip(".")}


def test_fewer_rounds_than_were_wanted_make_no_number_doubtful(folder, tmp_path, monkeypatch):
    monkeypatch.setattr(rendering, "_drawn", lambda *_: "<svg></svg>")
    record = runs.read(next(folder.glob("nht1-solver_*.json")))
    for case in record["measurements"]:
        case["flags"] = {"budget": "the time budget ended after 7 of 11 rounds"}
    runs.save(record, tmp_path)
    (answer,) = re.findall(r"<li><p>(.*?)</p><small>", report.html(tmp_path))
    assert "GFLOPS on one thread" in answer and "…" not in answer


def test_where_time_is_short_what_the_page_asks_is_measured_first(made, tmp_path):
    assert set() < made[2] <= set(suite.ASKED)
    whole = suite.plan(tmp_path, [], "quick", 1, 0)
    room = 4 * next(iter(whole.todo.values()))
    some = suite.within(whole, room)
    assert 0 < sum(some.todo.values()) <= room and set(some.todo) < set(suite.ASKED)
    assert list(suite.within(whole, 1e6).todo) != list(whole.todo)
    with pytest.raises(ValueError, match="nothing fits into 1 s"):
        suite.within(whole, 1)
