"""The register of figures: every table exists, every figure is one that some chapter shows."""

import pytest

from companion import chapters, drawn, tables

SOURCES = "\n".join(
    path.read_text(encoding="utf-8") for path in (chapters.files("__init__.py")["nht1"].parents[2]).rglob("*.py")
)


@pytest.mark.parametrize("document", sorted(chapters.files("drawn.csv")))
def test_every_figure_of_the_register_is_shown_by_a_chapter(document):
    found = drawn.register(document)
    assert found and all(tables_of for tables_of in found.values())
    stems = [name for name in found if f'"{name}"' not in SOURCES]
    for name in stems:  # names with a part that is put in: a size, a routine
        assert f'f"{name.rpartition("_")[0]}_{{' in SOURCES, name


def test_a_table_has_the_address_that_its_record_gives_it():
    assert drawn.anchor("nht1", "table_1") == "tab-nht1-table-1"
    assert drawn.by_anchor()["tab-p5plus-smt-benefit"] == ("p5plus", "smt_benefit")
    assert len(drawn.by_anchor()) == sum(len(tables.names(document)) for document in tables.documents())


def test_places_name_figure_page_and_slide_of_each_document_once():
    found = drawn.places([("nht1", "table_1"), ("xc30", "runs"), ("nht1", "figure_1_axes"), ("nht1", "table_1")])
    assert found["nht1"] == ["Table 1, page 3", "Figure 1, page 11"]
    assert found["xc30"] == ['slide "Statistics for IFS 10-day Forecast"']
