"""What may and must stand in the repository."""

import csv
import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
LARGEST = 1_000_000
FOREIGN = {
    "a path of one machine": re.compile(r"(?<![\w.~/-])/(?:home|root|Users|work)/[\w.-]+"),
    "a package index": re.compile(
        r"--(?:extra-)?index-url|PIP_INDEX|https?://[\w.-]*(?:pypi|pythonhosted|artifactory|nexus)"
    ),
    "a private address": re.compile(r"\b(?:10|192\.168|172\.(?:1[6-9]|2\d|3[01]))\.\d{1,3}\.\d{1,3}(?:\.\d{1,3})?:\d+"),
}
# These name such things in order to refuse them.
REFUSING = {
    "tests/test_repository.py",
    "tests/test_environment.py",
    "tests/book/test_notebooks.py",
    "companion/notebooks.py",
    "Makefile",
}


@cache
def _tracked():
    try:
        done = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return []
    return [name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file()]


@pytest.fixture(autouse=True)
def _needs_git():
    if not _tracked():
        pytest.skip("this is no git checkout, so there is no list of tracked files")


def test_no_tracked_file_is_large():
    large = {name: size for name in _tracked() if (size := (ROOT / name).stat().st_size) > LARGEST}
    assert not large


@pytest.mark.parametrize("what", FOREIGN)
def test_no_file_names(what):
    found = []
    for name in _tracked():
        if name in REFUSING:
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        found += [f"{name}: {match.group()}" for match in FOREIGN[what].finditer(text)]
    assert not found


def test_no_script_of_ours_makes_markup_of_what_it_is_given():
    """Addresses, hashes and texts of a page are data: they become nodes and attributes, never source."""
    source = re.compile(
        r"\.(?:innerHTML|outerHTML|insertAdjacentHTML|srcdoc)\b|document\.write|\beval\(|new Function\("
    )
    ours = [name for name in _tracked() if name.endswith(".js") and "/plot/" not in name]
    ours += [name for name in _tracked() if name.startswith(("book/_ext/", "book/_templates/", "companion/pages/"))]
    assert len(ours) > 5
    assert not [(name, found) for name in ours if (found := source.findall((ROOT / name).read_text(encoding="utf-8")))]


def test_nothing_made_is_tracked():
    made = re.compile(r"(^|/)(\.venv|\.cache|__pycache__|_build|\.ipynb_checkpoints)(/|$)|\.egg-info/|\.pyc$")
    assert not [name for name in _tracked() if made.search(name)]


def test_every_text_file_ends_with_one_newline():
    wrong = []
    for name in _tracked():
        content = (ROOT / name).read_bytes()
        if b"\0" not in content and content and (not content.endswith(b"\n") or b"\r\n" in content):
            wrong.append(name)
    assert not wrong


def test_ci_can_be_executed():
    assert os.access(ROOT / ".ci" / "run", os.X_OK)


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("LICENSE", "BSD 3-Clause"),
        ("data/LICENSE", "Attribution 4.0"),
        ("notebooks/LICENSE", "Attribution 4.0"),
        ("book/LICENSE", "Attribution 4.0"),
    ],
)
def test_licence_of_each_folder(path, words):
    assert words in (ROOT / path).read_text()
    assert f"`{Path(path).parent}/`" in (ROOT / "README.md").read_text() or path == "LICENSE"


def test_citation_can_be_read():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0" and citation["title"] and citation["authors"]
    assert len(citation["references"]) == 5


def test_lab_is_started_by_the_program_that_refuses_other_addresses_and_no_token():
    recipe = re.search(r"^lab:.*\n\t(.*)", (ROOT / "Makefile").read_text(), re.MULTILINE).group(1)
    assert "-m companion.lab" in recipe
    assert "token" not in recipe and "password" not in recipe


def test_every_row_of_a_table_has_the_fields_of_its_head():
    """A comma in a text that nobody quoted would end whatever reads the table."""
    wrong = []
    for name in _tracked():
        if name.endswith(".csv"):
            with (ROOT / name).open(newline="", encoding="utf-8") as file:
                head, *rows = csv.reader(file, strict=True)
            wrong += [f"{name}:{number}" for number, row in enumerate(rows, start=2) if len(row) not in (0, len(head))]
    assert not wrong
