"""No number that a report prints stands in code, formulas or prose outside ``data/``: it is loaded from its table.

A file whose path names a document is held to three significant digits of that document and four of any other, since
three digits of some document meet by chance; what speaks about all documents to three of any; everything else to four.
Years and powers of two are left out.
"""

import ast
import re
from pathlib import Path

import nbformat
import pytest

from supercomputers_rerun.companion import claims, tables
from supercomputers_rerun.companion.claims import register

ROOT = Path(tables.__file__).resolve().parents[2]
#: Numbers that equal a printed cell and mean something else: degrees, days, pixels, a power of two, seconds; and sizes
#: that name a problem or a machine: the grid of BT's class B, a truncation, processors.
ALLOWED = {360, 365, 640, 1024, 3600, 86400, 102, 1279, 768}
NUMBER = re.compile(r"(?<![\w./,\-^{])(\d[\d,]*\.?\d*|\.\d+)(?![\w/^}]|\.\d|-\d)")


def significant(text: str) -> int:
    """How many digits of a number are significant: three of ``"1,040"``, two of ``".420"``."""
    mantissa = re.sub("[,_]", "", text.lower()).partition("e")[0]
    return len(mantissa.replace(".", "").lstrip("+-0").rstrip("0"))


@pytest.fixture(scope="module")
def known() -> dict[float, dict[str, str]]:
    """Printed numbers of at least three significant digits: for each document one place."""
    found = {}
    for document in tables.documents():
        for name in tables.names(document):
            half = tables.digits(document, name)
            for column, cells in tables.text(document, name).items():
                for cell in cells[half[column].notna()]:
                    value = float(cell)
                    plain = value.is_integer() and (1900 <= value <= 2099 or int(value).bit_count() == 1)
                    if significant(cell) >= 3 and not plain and value not in ALLOWED:
                        found.setdefault(value, {}).setdefault(document, f"{document}/{name}.csv, column {column!r}")
    return found


def in_text(text: str) -> list[str]:
    """Numbers in prose; identifiers (T399, p690), versions, dates and paths are none."""
    return [number.rstrip(",.").replace(",", "") for number in NUMBER.findall(text)]


def in_code(source: str, prose: bool = True) -> list[str]:
    """Numbers in code: literals, and with ``prose`` those in strings other than docstrings."""
    nodes = list(ast.walk(ast.parse(source)))
    documented = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    constants = [node.value for node in nodes if isinstance(node, ast.Constant) and id(node) not in documented]
    found = [repr(value) for value in constants if type(value) in (int, float)]
    return found + [number for text in constants if prose and isinstance(text, str) for number in in_text(text)]


def strays(numbers: list[str], known: dict, about: str) -> list[str]:
    """Numbers of a document, with their places; ``about`` is the path of the file."""
    own = {document for document in tables.documents() if document in about}
    if not own and re.search("experiments|machines|claims", about):
        own = set(tables.documents())
    return [
        f"{about}: {text} stands in {place}"
        for text in numbers
        for document, place in known.get(float(text), {}).items()
        if significant(text) >= (3 if document in own else 4)
    ]


def test_planted_numbers_are_found_and_others_left(known):
    for source in ("x = 2457", "title = 'T799 took 2457 s'", "y = 2_457.0", "z = 1049275053531"):
        assert strays(in_code(source), known, "bench.py"), source
    assert strays(in_text("The run took 2,457 s."), known, "bench.py")
    assert not strays(in_code("n = 2048; year = 2006; t = 'T2457'; v = '1.2457.3'\n'''2457'''"), known, "bench.py")
    assert in_text("T399, p690, iPSC/860, 3.1.2, 2014-10-19, version-815 and 815.") == ["815"]
    held = [bool(strays(["815"], known, path)) for path in ("04_p5plus.ipynb", "90_machines.ipynb", "03_nht1.ipynb")]
    assert held == [True, True, False]


def test_no_number_of_a_document_stands_in_code(known):
    """In claims it may stand in text (printed values, keys, reasons), not as a literal."""
    found = []
    for path in sorted((ROOT / "supercomputers_rerun" / "companion").rglob("*.py")):
        about = path.relative_to(ROOT).as_posix()
        found += strays(in_code(path.read_text(encoding="utf-8"), prose="claims" not in about), known, about)
    for document in claims.documents():
        for entry in register.ledger(document):
            for line in entry.parts:  # what stands in brackets is an address
                formula = re.sub(r"\[[^]]*\]", "", line["formula"]) or "0"
                found += strays(in_code(f"value = {formula}", prose=False), known, f"{document}.{entry.name}")
    assert not found, "load it from the table: " + "; ".join(found)


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.name)
def test_no_number_of_a_document_stands_in_a_notebook(path, known):
    found = []
    for cell in nbformat.read(path, as_version=4).cells:
        code = cell.cell_type == "code" and not cell.source.lstrip().startswith(("%", "!"))
        found += strays(in_code(cell.source) if code else in_text(cell.source), known, path.name)
    assert not found, "show it from the table: " + "; ".join(found)
