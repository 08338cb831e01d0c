"""In the pages as they are built: what is printed is hollow, in every figure."""

import re

import pytest
from built import HTML, PAGES

from companion.figures.style import MEANINGS

DRAWN = re.compile(r"<svg[^>]*>.*?</svg>", re.DOTALL)
FILLED = re.compile(rf"<(?:use|path)\b[^>]*style=\"[^\"]*\bfill:{MEANINGS['printed']}[^\"]*\"[^>]*>")


@pytest.mark.parametrize("path", PAGES or [pytest.param("", marks=pytest.mark.skip(reason="no book"))])
def test_nothing_is_filled_with_the_colour_of_printed_numbers(path):
    text = (HTML / path).read_text(encoding="utf-8")
    filled = [
        shape for drawing in DRAWN.findall(text) for shape in FILLED.findall(drawing) if "fill-opacity:0" not in shape
    ]
    assert not filled
