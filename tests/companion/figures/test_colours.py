"""One colour, one meaning: figures take colours by name, and nothing but printed numbers is hollow and blue."""

import ast
import re
from pathlib import Path

import pytest

from supercomputers_rerun.companion import figures
from supercomputers_rerun.companion.figures import kit

ROOT = Path(__file__).parents[3]
SOURCES = sorted(
    path
    for path in (ROOT / "supercomputers_rerun").rglob("*.py")
    if path.name != "kit.py" and {"figures", "pages"} & {*path.relative_to(ROOT).parts, path.stem}
)


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_no_figure_names_a_colour_but_by_its_meaning(path):
    texts = [
        node.value for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.Constant)
    ]
    assert not [text for text in texts if isinstance(text, str) and re.fullmatch(r"#[0-9a-fA-F]{6}|C\d|tab:\w+", text)]


def test_printed_is_hollow_in_one_colour_and_measured_filled_in_others():
    _, axis = figures.axes()
    for number in range(8):
        old, new = (figures.points(axis, [1], [1], label="", host=host, index=number) for host in (False, True))
        assert (old.get_color(), old.get_markerfacecolor()) == (kit.MEANINGS["printed"], "none")
        assert new.get_markerfacecolor() == new.get_color() != kit.MEANINGS["printed"]
        assert old.get_marker() != new.get_marker() and old.get_linestyle() != new.get_linestyle()
        assert number or new.get_color() == kit.MEANINGS["measured"]


@pytest.mark.parametrize("indices", [(0, 1), (1, 0), (5, 2)])
def test_the_first_measured_variant_of_a_figure_has_the_colour_of_measured_numbers(indices):
    _, axis = figures.axes()
    drawn = [figures.points(axis, [1], [1], label="", host=True, index=index).get_color() for index in indices]
    assert drawn == list(kit.SERIES[:2])
    again = figures.points(axis, [1], [1], label="", host=True, index=indices[0])
    assert again.get_color() == drawn[0]
