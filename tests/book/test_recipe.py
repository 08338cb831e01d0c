"""The recipe of ``companion/README.md``: a chapter is a notebook, a record, a folder in data/ and one in
companion/chapters/.

A toy document is added to a copy of the tree, nothing else is touched, and its page is built.
"""

import json
import re
import shutil
from pathlib import Path

import nbformat
import pytest
import yaml
from built import make_book

pytestmark = pytest.mark.built  # it builds a book of its own
ROOT = Path(__file__).parents[2]
COPIED = ("supercomputers_rerun", "kernels", "book/_ext", "book/_static", "book/_templates", "data")
LEFT_OUT = shutil.ignore_patterns("runs", "peers", "*.nc", "_build")

DESCRIPTOR = {
    "name": "toy",
    "document": {"citation": "A. Toy, Sums of whole numbers, 1999"},
    "resources": [
        {
            "name": "sums",
            "path": "sums.csv",
            "title": "Sums of two numbers",
            "item": "Table 1",
            "rows": 2,
            "schema": {
                "primaryKey": ["case"],
                "fields": [
                    {"name": "case", "type": "string", "description": "case", "constraints": {"required": True}},
                    {"name": "a", "type": "integer", "unit": "1", "exact": True, "description": "first"},
                    {"name": "b", "type": "integer", "unit": "1", "exact": True, "description": "second"},
                    {"name": "sum", "type": "integer", "unit": "1", "exact": True, "description": "sum"},
                    {"name": "note", "type": "string", "description": "our remark"},
                ],
            },
        }
    ],
}
CLAIMS = """claim,item,where,statement,for,printed,bound,formula,instead,reason,note
sums,,Table 1,The sum of {item}.,rows of sums,{sum},,a + b,,,
sums,wrong,,,,,,,,Two and two are 4.,
"""
SECTION = '''"""Sums of the toy document."""

from supercomputers_rerun.companion.experiments import experiment


@experiment("toy-sum", item="T1")
def one(preset, threads):
    """No case."""
    return []
'''
ITEMS = """item,of,title,survives,status,heading,here
T1,,sums of two numbers,all,live,Sums,the same sums
T-F1,T1,a lost plot of sums,its title,not possible,Sums,the points are lost
"""
CELLS = (
    "# A toy",
    "from supercomputers_rerun.companion import figures, tables\n"
    "from supercomputers_rerun.companion.chapters.toy import sums",
    "## Sums",
    'figures.document_table("toy", "sums")',
    'print(sums.one.run(progress=False).attrs["experiment"], tables.names("toy"))',
)
#: Pages that a record names.
PAGES = ("ledger", "machines", "methods", "peers")


def add_a_chapter(root: Path) -> None:
    """What the recipe names: two files of a table, claims, items and a section, a notebook and its record."""
    data, chapter = root / "data" / "toy", root / "supercomputers_rerun" / "companion" / "chapters" / "toy"
    data.mkdir(), chapter.mkdir()
    (data / "datapackage.json").write_text(json.dumps(DESCRIPTOR))
    (data / "sums.csv").write_text("case,a,b,sum,note\nright,1,2,3,\nwrong,2,2,5,\n")
    (chapter / "__init__.py").write_text('"""The toy document."""\n')
    (chapter / "claims.csv").write_text(CLAIMS)
    (chapter / "sums.py").write_text(SECTION)
    (chapter / "items.csv").write_text(ITEMS)
    cell = {True: nbformat.v4.new_markdown_cell, False: nbformat.v4.new_code_cell}
    cells = [cell[text.startswith("#")](text) for text in CELLS]
    nbformat.write(nbformat.v4.new_notebook(cells=cells), root / "notebooks" / "07_toy.ipynb")
    (root / "book" / "records").mkdir()
    (root / "book" / "records" / "07_toy.md").write_text("# Record 7: toy\n")


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The HTML of the toy's story and record, built with this book's configuration and extensions."""
    root = tmp_path_factory.mktemp("recipe")
    for name in COPIED:
        shutil.copytree(ROOT / name, root / name, ignore=LEFT_OUT)
    for name in ("runs", "peers"):
        (root / "data" / name).mkdir()
    for name in ("_config.yml", "references.bib", "execution.md"):
        shutil.copy(ROOT / "book" / name, root / "book" / name)
    shutil.copy(ROOT / "CITATION.cff", root)
    (root / "notebooks").mkdir()
    add_a_chapter(root)
    (root / "book" / "index.md").write_text("# Index\n\nA page.\n")
    for name in PAGES:
        (root / "book" / f"{name}.md").write_text(f"# {name}\n\nA page.\n")
    toc = {
        "format": "jb-book",
        "root": "book/index",
        "chapters": [
            *({"file": f"book/{name}"} for name in PAGES),
            {"glob": "notebooks/*"},
            {"glob": "book/records/*"},
            {"file": "book/execution"},
        ],
    }
    (root / "book" / "_toc.yml").write_text(yaml.safe_dump(toc))
    done = make_book(root)
    assert done.returncode == 0, done.stdout + done.stderr
    html = root / "book" / "_build" / "html"
    return {name: (html / name / "07_toy.html").read_text(encoding="utf-8") for name in ("notebooks", "book/records")}


TABLE = "Sums of two numbers. A. Toy, Sums of whole numbers, 1999, Table 1"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("notebooks", TABLE),
        ("notebooks", "toy-sum ['sums']"),  # the experiment runs
        ("book/records", TABLE),
        ("book/records", "Two and two are 4."),  # the claim that fails
        ("book/records", 'href="../../notebooks/07_toy.html#sums"'),  # the item leads to its heading
        ("book/records", "rerun live<br><small>toy-sum</small>"),  # and names its experiment
        ("book/records", "a lost plot of sums"),
    ],
)
def test_the_pages_of_a_new_chapter_show(pages, name, shown):
    assert shown in pages[name]


def test_tables_are_numbered_page_by_page(pages):
    numbers = [re.findall(r"Table (R?7\.\d+)\. ", pages[name]) for name in ("notebooks", "book/records")]
    assert numbers[0] == ["7.1"] and numbers[1][:2] == ["R7.1", "R7.2"]
