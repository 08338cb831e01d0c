"""Rows of ``figures.csv``: templates and axes."""

import pandas as pd
import pytest

from companion import chapters
from companion.figures import axes, captions
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


def test_every_row_belongs_to_a_figure_of_its_chapter():
    for document, rows in chapters.rows("figures.csv", captions.COLUMNS).items():
        folder = chapters.files("figures.csv")[document].parent
        sources = "".join(path.read_text(encoding="utf-8") for path in (folder / "figures").glob("*.py"))
        assert [each["figure"] for each in rows if f'"{each["figure"]}"' not in sources] == []
