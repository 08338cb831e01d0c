"""Rows of ``figures.csv``: templates, headings and legends."""

import pandas as pd
import pytest

from companion import chapters
from companion.figures import axes, captions, table
from companion.figures.rendering import show


def row(**cells):
    return {"figure": "toy", **dict.fromkeys(captions.COLUMNS[1:], ""), **cells}


@pytest.fixture
def declare(monkeypatch):
    return lambda **cells: monkeypatch.setattr(captions, "declared", lambda: {"toy": row(**cells)})


def test_texts_are_filled_with_what_the_figure_hands_over(declare):
    declare(title="Sums", alt="From {least:.1f} to {most:.1f}.", caption="{alt} {marked}")
    found = captions.words("toy", least=1, most=2.25)
    assert found == {"title": "Sums", "alt": "From 1.0 to 2.2.", "caption": f"From 1.0 to 2.2. {captions.MARKED}"}
    assert captions.words("another") == captions.words(None) == {}
    with pytest.raises(KeyError, match="most"):
        captions.words("toy", least=1)


def test_items_are_listed_in_the_words_of_the_row(declare):
    declare(alt="All of {cpus}: {items}.", item=", {name} {value:.1f}")
    assert captions.words("toy", items=pd.Series({"a": 1, "b": 2.25}), cpus=2)["alt"] == "All of 2: a 1.0, b 2.2."
    declare(alt="{items}.", item="{loop} on {cpus}: {time:.0f} s")
    frame = pd.DataFrame({"loop": ["x", "y"], "time": [1.0, 20.0]})
    assert captions.words("toy", items=frame, cpus=2)["alt"] == "x on 2: 1 s; y on 2: 20 s."
    declare(alt="{items}.", caption="{items}, too.", item="once, {cpus}")
    assert captions.words("toy", cpus=2) == {"alt": "once, 2.", "caption": "once, 2, too."}


def test_a_table_takes_its_caption_from_the_row(declare):
    declare(caption="Sums. From {sums_least} to {sums_most}.")
    shown = table(pd.DataFrame({"job": ["a"], "time": [1.5]}), name="toy", units="s", sums=[1, 2])
    assert shown.text.startswith("Sums. From 1 to 2.") and "time [s]" in shown.text
    with pytest.raises(ValueError, match="caption is empty"):
        table(pd.DataFrame({"time": [1.5]}), name="another")


@pytest.mark.parametrize("place", ["above 1", "above 2 0.4", "under 2 0.5 -0.2", "below 2", "upper left", ""])
def test_a_legend_lies_where_the_row_says(declare, place):
    declare(legend=place, heading="a machine", alt="Sums.")
    figure, axis = axes()
    axis.plot([1, 2], [1, 2], label="one")
    assert "Sums." in show(figure, name="toy").html
    assert figure.get_suptitle() == "a machine"
    inside, outside = axis.get_legend() is not None, len(figure.legends)
    assert (inside, outside) == (place.startswith(("above", "under", "upper")), int(place.startswith("below")))


def test_an_axis_is_set_as_the_row_says(declare):
    declare(axes="log x 2; x sizes; y time [s]; title all; xlim 2 -; rows; no grid y", alt="Sums.")
    figure, axis = axes()
    axis.plot([2, 8], [0, 1])
    axis.set_yticks([0, 1], ["a", "b"])
    show(figure, name="toy")
    assert (axis.get_xscale(), axis.xaxis.get_transform().base, axis.get_xlim()[0]) == ("log", 2, 2)
    assert (axis.get_xlabel(), axis.get_ylabel(), axis.get_title()) == ("sizes", "time [s]", "all")
    assert axis.get_ylim() == (1.5, -0.5)
    assert [line.get_visible() for line in (axis.xaxis.get_gridlines()[0], axis.yaxis.get_gridlines()[0])] == [
        True,
        False,
    ]
    declare(axes="log; ylim 1 10; down", alt="Sums.")
    show(figure, name="toy")
    assert (axis.get_xscale(), axis.get_yscale(), axis.get_ylim()) == ("log", "log", (10, 1))


def test_each_panel_is_set_and_all_of_them(declare):
    declare(axes="y above; legend upper left; |; y below; log y; all; x time", alt="Sums.")
    figure, (first, second) = axes(2, 1)
    for axis in (first, second):
        axis.plot([1, 2], [1, 2], label="one")
    show(figure, name="toy")
    assert [axis.get_ylabel() for axis in (first, second)] == ["above", "below"]
    assert [axis.get_yscale() for axis in (first, second)] == ["linear", "log"]
    assert [axis.get_legend() is None for axis in (first, second)] == [False, True]
    assert {axis.get_xlabel() for axis in (first, second)} == {"time"}


def test_every_row_belongs_to_a_figure_of_its_chapter():
    for document, rows in chapters.rows("figures.csv", captions.COLUMNS).items():
        folder = chapters.files("figures.csv")[document].parent
        sources = "".join(path.read_text(encoding="utf-8") for path in (folder / "figures").glob("*.py"))
        assert [each["figure"] for each in rows if f'"{each["figure"]}"' not in sources] == []
