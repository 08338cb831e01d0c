"""The page *Add a report*: a copy of the tree gets its blocks, nothing else is touched, and its pages are built."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml
from built import make_book

pytestmark = pytest.mark.built  # it builds a book of its own
ROOT = Path(__file__).parents[2]
COPIED = ("supercomputers_rerun", "kernels", "book/_ext", "book/_static", "book/_templates", "data")
LEFT_OUT = shutil.ignore_patterns("runs", "peers", "*.nc", "_build")

RECIPE = (ROOT / "book" / "recipe.md").read_text(encoding="utf-8")
#: File, or cell of the notebook, -> what the page says stands in it.
BLOCKS = {
    name.replace("\\_", "_"): text
    for name, text in re.findall(r"```\{code-block\} \w+\n:caption: ([^\n]+)\n\n(.*?)```", RECIPE, re.DOTALL)
}
#: Pages that a record names.
PAGES = ("conclusions", "ledger", "machines", "methods", "peers")


def add_a_chapter(root: Path) -> None:
    """The files and the cells of the page *Add a report*, as they stand there."""
    cells = []
    for place, text in BLOCKS.items():
        path, _, cell = place.partition(", cell ")
        if cell:
            made = nbformat.v4.new_markdown_cell if text.startswith("#") else nbformat.v4.new_code_cell
            cells.append(made(text.rstrip("\n")))
            continue
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    nbformat.write(nbformat.v4.new_notebook(cells=cells), root / "notebooks" / "06_toy.ipynb")


def companion(root: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command on the copy of the tree."""
    command = [sys.executable, "-m", "supercomputers_rerun.companion", *arguments]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    return subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)


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
    done = companion(root, "check", "toy")
    assert done.returncode == 0 and done.stdout.count("ok\n") == 6, done.stdout + done.stderr
    done = make_book(root)
    assert done.returncode == 0, done.stdout + done.stderr
    html = root / "book" / "_build" / "html"
    return {name: (html / name / "06_toy.html").read_text(encoding="utf-8") for name in ("notebooks", "book/records")}


TABLE = "Sums of two numbers. A. Toy, Sums of whole numbers, 1999, Table 1"


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("notebooks", TABLE),
        ("notebooks", "The sums come to 8."),
        ("notebooks", "One chain of additions"),  # the experiment runs
        ("book/records", TABLE),
        ("book/records", "Two and two are 4."),  # the claim that fails
        ("book/records", 'href="../../notebooks/06_toy.html#how-fast-are-sums"'),  # the item leads to its heading
        ("book/records", "rerun live<br><small>toy-additions</small>"),  # and names its experiment
        ("book/records", "a lost plot of sums"),
    ],
)
def test_the_pages_of_a_new_chapter_show(pages, name, shown):
    assert shown in pages[name]


def test_tables_are_numbered_page_by_page(pages):
    numbers = [re.findall(r"Table (R?6\.\d+)\. ", pages[name]) for name in ("notebooks", "book/records")]
    assert numbers[0] == ["6.1"] and numbers[1][:2] == ["R6.1", "R6.2"]
