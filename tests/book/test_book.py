"""The book follows its sources; its pages, citations and configuration are whole."""

import re
from pathlib import Path

import execution
import pytest
import yaml

from supercomputers_rerun.companion import items

ROOT = Path(__file__).parents[2]
BOOK = ROOT / "book"


@pytest.fixture
def tree(tmp_path):
    """Sources as the digest sees them."""
    for name in ("kernels/a.py", "supercomputers_rerun/b.py", "data/c.csv", "requirements.lock", "notebooks/n.ipynb"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(name)
    return tmp_path


@pytest.mark.parametrize("name", ["kernels/a.py", "supercomputers_rerun/b.py", "data/c.csv", "requirements.lock"])
def test_digest_follows_every_source_and_comes_back(tree, name):
    before = execution.digest(tree)
    content = (tree / name).read_bytes()
    (tree / name).write_bytes(content + b"#")
    assert execution.digest(tree) != before
    (tree / name).write_bytes(content)
    assert execution.digest(tree) == before


def test_digest_sees_new_and_renamed_files(tree):
    before = execution.digest(tree)
    (tree / "kernels" / "new.py").write_text("")
    new = execution.digest(tree)
    (tree / "kernels" / "new.py").rename(tree / "kernels" / "newer.py")
    assert len({before, new, execution.digest(tree)}) == 3


def test_digest_ignores_what_running_leaves_behind(tree):
    before = execution.digest(tree)
    (tree / "kernels" / "__pycache__").mkdir()
    (tree / "kernels" / "__pycache__" / "a.pyc").write_text("x")
    assert execution.digest(tree) == before


def test_every_page_is_in_the_contents_and_exists():
    contents = yaml.safe_load((BOOK / "_toc.yml").read_text())
    entries = [entry for part in contents["parts"] for entry in part["chapters"]]
    named = {contents["root"], *(entry["file"] for entry in entries if "file" in entry)}
    assert {"glob": "notebooks/*"} in entries and {"glob": "book/records/*"} in entries
    records = {path.stem for path in (BOOK / "records").glob("*.md")}
    assert records == {items.page(document) for document in items.documents()}
    assert named == {f"book/{path.stem}" for path in BOOK.glob("*.md")}


def test_every_citation_has_an_entry():
    entries = set(re.findall(r"^@\w+\{([^,]+),", (BOOK / "references.bib").read_text(), re.MULTILINE))
    texts = [path.read_text() for path in BOOK.glob("*.md")]
    texts += [path.read_text() for path in (ROOT / "notebooks").glob("*.ipynb")]
    cited = {
        key.strip()
        for text in texts
        for keys in re.findall(r"\{cite(?::\w+)?\}`([^`]+)`", text)
        for key in keys.split(",")
    }
    cited |= {key for text in texts for key in re.findall(r"references\.bib#([\w-]+)", text)}
    assert cited and cited <= entries


def test_configuration_switches_services_off():
    configuration = yaml.safe_load((BOOK / "_config.yml").read_text())
    launch = configuration["launch_buttons"]
    assert not launch["binderhub_url"] and not launch["colab_url"] and not launch["thebe"]
    assert "://" not in (BOOK / "_config.yml").read_text()
    assert configuration["execute"]["raise_on_error"]
