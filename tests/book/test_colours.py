"""In the pages as they are built: what is printed is hollow, in every figure."""

import re

import pytest
from built import HTML, PAGES

from supercomputers_rerun.companion.figures.kit import MEANINGS

pytestmark = pytest.mark.built
DRAWN = re.compile(r"<svg[^>]*>.*?</svg>", re.DOTALL)
SHAPE = re.compile(r"<(?:use|path)\b[^>]*>")


def filled(drawing: str) -> list[str]:
    """Closed shapes of a drawing that are filled with the colour of printed numbers; a stroke has no inside."""
    closed = set(re.findall(r'<path id="([^"]+)" d="[^"]*z"', drawing))
    found = []
    for shape in SHAPE.findall(drawing):
        target = re.search(r'href="#([^"]+)"', shape)
        inside = target[1] in closed if target else re.search(r'\bd="[^"]*z"', shape) is not None
        if inside and f"fill:{MEANINGS['printed']}" in shape and "fill-opacity:0" not in shape:
            found.append(shape)
    return found


@pytest.mark.parametrize("path", PAGES)
def test_nothing_is_filled_with_the_colour_of_printed_numbers(path):
    text = (HTML / path).read_text(encoding="utf-8")
    assert not [shape for drawing in DRAWN.findall(text) for shape in filled(drawing)]
