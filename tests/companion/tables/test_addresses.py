"""Where printed tables are, as figures lead to them and are cited by them."""

from supercomputers_rerun.companion import tables


def test_a_table_has_the_address_that_its_record_gives_it():
    assert tables.anchor("nht1", "table_1") == "tab-nht1-table-1"
    assert tables.by_anchor()["tab-p5plus-smt-benefit"] == ("p5plus", "smt_benefit")
    assert len(tables.by_anchor()) == sum(len(tables.names(document)) for document in tables.documents())


def test_places_name_figure_page_and_slide_of_each_document_once():
    found = tables.places([("nht1", "table_1"), ("xc30", "runs"), ("nht1", "figure_1_axes"), ("nht1", "table_1")])
    assert found["nht1"] == ["Table 1, page 3", "Figure 1, page 11"]
    assert found["xc30"] == ['slide "Statistics for IFS 10-day Forecast"']
