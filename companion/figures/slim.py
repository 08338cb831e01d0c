"""Matplotlib's SVG without what draws nothing: names that nobody refers to, groups around one thing, white space;
pixels with a palette."""

import base64
import io
import re
import xml.etree.ElementTree as ET

_SVG = "http://www.w3.org/2000/svg"
ET.register_namespace("", _SVG)
#: Rotations by nothing, which Matplotlib gives every text.
_NO_TURN = re.compile(r"\s*rotate\(-?0(?: [-\d.]+ [-\d.]+)?\)$")
_HREFS = ("href", "{http://www.w3.org/1999/xlink}href")


def _path(text: str) -> str:
    """Commands of a path on one line, without the spaces that they do not need."""
    text = re.sub(r"\s+", " ", text.strip())
    text = re.sub(r" ?([A-Za-z]) ?", r"\1", text)
    text = re.sub(r"(\.\d*?)0+(?=\D|$)", r"\1", text)
    return re.sub(r"\.(?=\D|$)", "", text)  # a number of SVG's does not end with its point


def _flatten(parent: ET.Element) -> None:
    """Put the children of groups that say nothing in their place, from the inside out."""
    for child in parent:
        _flatten(child)
    out: list[ET.Element] = []
    for child in parent:
        if child.tag == f"{{{_SVG}}}g" and not child.attrib:
            out += list(child)
        elif not (child.tag == f"{{{_SVG}}}defs" and not len(child)):
            out.append(child)
    parent[:] = out


def _pixels(address: str) -> str:
    """A PNG in a data address with a palette of 256 colours, if that is smaller."""
    from PIL import Image

    head, _, packed = address.partition(",")
    image = Image.open(io.BytesIO(base64.b64decode(packed))).convert("RGBA")
    buffer = io.BytesIO()
    image.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE).save(buffer, "PNG", optimize=True)
    shorter = base64.b64encode(buffer.getvalue()).decode()
    return f"{head},{shorter}" if len(shorter) < len(packed) else address


def slim(svg: str) -> str:
    """An element ``svg`` that looks the same in fewer bytes."""
    root = ET.fromstring(svg)
    used = set(re.findall(r"url\(#([^)]+)\)", svg))
    for element in root.iter():
        used |= {element.get(name, "").removeprefix("#") for name in _HREFS}
    for element in root.iter():
        if element is not root and element.get("id") not in used:
            element.attrib.pop("id", None)
        if _NO_TURN.match(element.get("transform", "")):
            del element.attrib["transform"]
        if "d" in element.attrib:
            element.set("d", _path(element.get("d", "")))
        for name in _HREFS:
            if element.get(name, "").startswith("data:image/png;base64,"):
                element.set(name, _pixels(element.get(name, "")))
        if element.get("style"):
            element.set("style", re.sub(r"([:;]) ", r"\1", element.get("style", "")).rstrip(";"))
        if len(element) and not (element.text or "").strip():
            element.text = None
        if not (element.tail or "").strip():
            element.tail = None
    _flatten(root)
    return ET.tostring(root, encoding="unicode")
