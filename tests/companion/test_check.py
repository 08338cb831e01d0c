"""``companion check``: what a chapter lacks is said in sentences, and nothing of it stops the rest."""

import csv
import shutil
from dataclasses import replace

import pytest

from supercomputers_rerun.companion import chapters, check, experiments, items, notebook_files, tables


@pytest.mark.parametrize("document", items.documents())
def test_the_chapters_of_the_book_have_no_fault(call, document):
    code, out, err = call("check", document)
    assert (code, err) == (0, "") and [line.split() for line in out.splitlines()] == [[p, "ok"] for p in check.PARTS]


def test_an_unknown_report_is_one_sentence(call):
    code, _, err = call("check", "nosuch")
    assert code == 2 and "report = 'nosuch': neither data/nosuch nor" in err and "xmp1982 are" in err


@pytest.fixture
def register(monkeypatch, tmp_path):
    """``register(change)``: the items of p5plus, their rows changed."""

    def make(change):
        files = chapters.files("items.csv")
        copy = tmp_path / "p5plus" / "items.csv"
        copy.parent.mkdir(exist_ok=True)
        shutil.copy(files["p5plus"], copy)
        with copy.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
        change(rows)
        with copy.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, rows[0])
            writer.writeheader()
            writer.writerows(rows)
        monkeypatch.setattr(
            items.chapters, "files", lambda name: files | {"p5plus": copy} if name == "items.csv" else {}
        )

    return make


def test_a_broken_file_stops_its_own_part(register, call):
    register(lambda rows: rows[0].update(heading="Nowhere"))
    code, out, _ = call("check", "p5plus")
    assert code == 1 and "items.csv treats P1 under 'Nowhere', which is no heading of 04_p5plus.ipynb" in out
    assert "experiments ok" in out


def test_what_a_notebook_lacks_is_named(monkeypatch):
    monkeypatch.setattr(notebook_files, "sources", lambda path: ["figures.box()"])
    (found,) = check.faults("nht1")["notebook"]
    assert found == "notebooks/03_nht1.ipynb has no figures.document_tables(…): the printed tables at its end"


def test_an_experiment_whose_cases_cannot_be_made_is_named(monkeypatch):
    def cases(preset, threads):
        raise NameError("name 'smtt' is not defined")

    entry = replace(experiments.find("p5plus-smt"), cases=cases)
    monkeypatch.setitem(experiments.REGISTER, "p5plus-smt", entry)
    (found,) = check.faults("p5plus")["experiments"]
    assert found == "experiment p5plus-smt gives no cases at the preset quick: name 'smtt' is not defined"


@pytest.mark.parametrize(
    ("file", "before", "after", "said"),
    [
        (
            "smt_benefit.csv",
            "loop,",
            "lop,",
            "data/p5plus/smt_benefit.csv, line 1: it lacks the column 'loop' of datapackage.json; its columns are lop,",
        ),
        ("smt_benefit.csv", "10.0", "ten", "data/p5plus/smt_benefit.csv, column gflops_smt: could not convert string"),
        ("datapackage.json", "{", "{,", "data/p5plus/datapackage.json is no JSON: "),
    ],
)
def test_a_broken_table_is_named_with_its_file(monkeypatch, tmp_path, file, before, after, said):
    shutil.copytree(tables.DATA / "p5plus", tmp_path / "p5plus")
    path = tmp_path / "p5plus" / file
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after, 1), encoding="utf-8")
    monkeypatch.setattr(tables, "DATA", tmp_path)
    for name in ("package", "_cells"):  # without what they remember
        monkeypatch.setattr(tables, name, getattr(tables, name).__wrapped__)
    assert any(said in found for found in check.faults("p5plus")["tables"])
