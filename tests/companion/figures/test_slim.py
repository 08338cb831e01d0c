"""A slim figure looks as it did."""

import re
import xml.etree.ElementTree as ET

import numpy as np

from companion.figures import axes, rendering
from companion.figures.slim import slim


def _figure():
    figure, axis = axes()
    axis.plot([1, 2, 3], [3.5, 1.25, 2], "o--", label="a & b < c")
    axis.fill_between([1, 3], [1, 1], [2, 3], alpha=0.3, hatch="//")
    axis.imshow(np.arange(12.0).reshape(3, 4) / 11, extent=(1, 3, 1, 3), aspect="auto")
    axis.set_ylabel("turned")
    axis.legend()
    return figure


def test_every_drawn_thing_stays(monkeypatch):
    whole = []
    monkeypatch.setattr(rendering, "slim", lambda svg: whole.append(svg) or slim(svg))
    out = rendering.show(_figure(), alt="A figure.").html
    out = out[out.index("<svg") : out.index("</svg>") + 6]
    before, after = ET.fromstring(whole[0]), ET.fromstring(out)
    drawn = [
        [element.tag for element in root.iter() if not element.tag.endswith(("}g", "}defs"))]
        for root in (before, after)
    ]
    assert drawn[0] == drawn[1]
    texts = [[element.text for element in root.iter() if element.tag.endswith("}text")] for root in (before, after)]
    assert texts[0] == texts[1] and "a & b < c" in texts[0]
    assert len(out) < 0.8 * len(whole[0])
    used = re.findall(r'(?:url\(#|href="#)([^)"]+)', out)
    assert used and set(used) <= set(re.findall(r'\bid="([^"]+)"', out))
    assert "rotate(-90" in out and "rotate(-0" not in out


def test_no_number_of_a_path_ends_with_its_point(monkeypatch):
    """Browsers drop what follows such a number: lines were missing."""
    out = rendering.show(_figure(), alt="A figure.").html
    paths = re.findall(r' d="([^"]+)"', out)
    assert paths and not [path for path in paths if re.search(r"\.(?!\d)", path)]
