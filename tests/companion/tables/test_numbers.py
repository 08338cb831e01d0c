"""No number that a report prints stands in code or prose outside ``data/``."""

import ast
import re
from pathlib import Path

import nbformat
import pytest

from companion import chapters, tables
from companion.claims import register

ROOT = Path(tables.__file__).resolve().parents[2]

# Numbers that equal a printed cell and mean something else; each with what it means.  Numbers of a layout
# (points, fractions of a figure) that collide are better changed by a hair than listed here.
ALLOWED = {
    "360": "degrees of a circle",
    "365": "days of a year",
    "640": "pixels or lines of a screen",
    "1024": "a power of two",
    "3600": "seconds of an hour",
    "86400": "seconds of a day",
}


def significant(text: str) -> str:
    """Significant digits of a number: ``"1,049"`` gives ``1049``, ``".420"`` gives ``42``."""
    mantissa = text.lower().replace(",", "").replace("_", "").partition("e")[0]
    return mantissa.replace(".", "").lstrip("+-0").rstrip("0")


def document_numbers() -> dict[float, dict[str, str]]:
    """Printed numbers of at least three significant digits: for each document one place.

    Left out: years, powers of two, and numbers with fewer digits, which any program may need.
    """
    found = {}
    for document in tables.documents():
        for name in tables.names(document):
            half = tables.digits(document, name)
            for column, cells in tables.text(document, name).items():
                for cell, printed in zip(cells, half[column].notna(), strict=True):
                    if printed and len(significant(cell)) >= 3 and cell not in ALLOWED and not harmless(float(cell)):
                        place = f"{document}/{name}.csv, column {column!r}"
                        found.setdefault(float(cell), {}).setdefault(document, place)
    return found


def harmless(value: float) -> bool:
    whole = int(value)
    return value == whole and (1900 <= whole <= 2099 or (whole > 0 and whole & (whole - 1) == 0))


NUMBER = re.compile(r"(?<![\w./,\-^{])(\d[\d,]*\.?\d*|\.\d+)(?![\w/^}]|\.\d|-\d)")


def in_text(text: str) -> list[str]:
    """Numbers in prose; identifiers (T399, p690), versions, dates and paths are none."""
    return [number.rstrip(",.").replace(",", "") for number in NUMBER.findall(text)]


def in_code(source: str) -> list[tuple[int, str]]:
    """Line and text of every number in code: literals, and prose in strings other than docstrings."""
    tree = ast.parse(source)
    documented = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, (ast.Module, ast.FunctionDef, ast.ClassDef))
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    result = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or id(node) in documented or isinstance(node.value, bool):
            continue
        if isinstance(node.value, (int, float)):
            result.append((node.lineno, repr(node.value)))
        elif isinstance(node.value, str):
            result += [(node.lineno, number) for number in in_text(node.value)]
    return result


def strays(numbers: list[tuple[int, str]], known: dict[float, dict[str, str]], about: str = "") -> list[str]:
    """Numbers of a document, with their places.

    ``about`` names the file: a chapter or its figures are held to three digits of their own document and
    to four of any other, since three digits of some document meet by chance; a general module to four,
    what speaks about all documents (experiments, machines, claims) to three.
    """
    own = [document for document in tables.documents() if document in about]
    everything = not own and any(word in about for word in ("experiments", "machines", "claims"))
    result = []
    for line, text in numbers:
        digits = len(significant(text))
        for document, place in known.get(float(text), {}).items():
            if digits >= 4 or (digits >= 3 and (everything or document in own)):
                result.append(f"line {line}: {text} stands in {place}")
                break
    return result


@pytest.fixture(scope="module")
def known():
    return document_numbers()


def test_the_detector_finds_planted_numbers_and_leaves_others(known):
    assert strays(in_code("x = 2457  # wall"), known) == ["line 1: 2457 stands in p5plus/ifs_times.csv, column 'wall'"]
    assert strays(in_code("title = 'T799 took 2457 s'"), known)
    assert strays(in_code("y = 2_457.0"), known) and strays(in_code("z = 1049275053531"), known)
    assert strays([(1, number) for number in in_text("The run took 2,457 s.")], known)
    assert not strays(in_code("n = 2048; m = 100; year = 2006; t = 'T2457'; v = '1.2457.3'"), known)
    assert not strays(in_code('"""2457"""'), known)
    assert in_text("T399, p690, iPSC/860, 3.1.2, 2014-10-19, version-815 and 815.") == ["815"]


def test_three_digits_count_where_the_document_is_at_home(known):
    share = in_code("seconds = 815")
    assert strays(share, known, "04_p5plus.ipynb") and strays(share, known, "06_machines.ipynb")
    assert not strays(share, known, "03_nht1.ipynb") and not strays(share, known, "bench.py")


def about_claims(path: Path) -> bool:
    return "claims" in path.relative_to(ROOT).parts or path.name == "claims.py"


def claims() -> list[Path]:
    return [path for path in sorted((ROOT / "companion").rglob("*.py")) if about_claims(path)]


def sources() -> list[Path]:
    return [path for path in sorted((ROOT / "companion").rglob("*.py")) if not about_claims(path)]


def test_no_number_of_a_document_stands_in_companion(known):
    found = []
    for path in sources():
        name = path.relative_to(ROOT).as_posix()
        found += [f"{name}, {place}" for place in strays(in_code(path.read_text(encoding="utf-8")), known, name)]
    assert not found, "load it from the table: " + "; ".join(found)


def test_claims_compute_from_tables_and_not_from_literals(known):
    """In claims, numbers of a document may stand in text (printed values, keys, reasons), not as literals."""
    found = []
    for path in claims():
        numbers = [
            (node.lineno, repr(node.value))
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
            if isinstance(node, ast.Constant) and type(node.value) in (int, float)
        ]
        found += [f"{path.relative_to(ROOT)}, {place}" for place in strays(numbers, known, "claims")]
    assert not found, "load it from the table: " + "; ".join(found)
    assert sources() and claims()


def literals(node: ast.AST) -> list[str]:
    """Numbers of a formula; what stands in brackets is an address."""
    if isinstance(node, ast.Constant):
        return [repr(node.value)]
    return [
        text for child in ast.iter_child_nodes(node) if not isinstance(node, ast.Subscript) for text in literals(child)
    ]


def test_formulas_compute_from_tables_and_not_from_literals(known):
    found = []
    for rows in chapters.rows("claims.csv", register.COLUMNS).values():
        for line in rows:
            numbers = [(0, number) for number in literals(ast.parse(line["formula"] or "0"))]
            found += [f"{line['claim']}, {place}" for place in strays(numbers, known, "claims")]
    assert not found, "load it from the table: " + "; ".join(found)
    assert literals(ast.parse("a[2457, b] + 2457")) == ["2457"]


@pytest.mark.parametrize("path", sorted((ROOT / "notebooks").glob("*.ipynb")), ids=lambda path: path.name)
def test_no_number_of_a_document_stands_in_a_notebook(path, known):
    found = []
    for number, cell in enumerate(nbformat.read(path, as_version=4).cells, start=1):
        code = cell.cell_type == "code" and not cell.source.lstrip().startswith(("%", "!"))
        numbers = in_code(cell.source) if code else [(0, text) for text in in_text(cell.source)]
        found += [f"cell {number}, {place}" for place in strays(numbers, known, path.name)]
    assert not found, "show it from the table: " + "; ".join(found)
