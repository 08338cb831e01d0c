"""What no committed file names, and who is cited."""

import re
import subprocess
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parent.parent
FOREIGN = {
    "a path of one machine": r"(?<![\w.~/-])/(?:home|root|Users|work)/[\w.-]+",
    "a package index": r"--(?:extra-)?index-url|PIP_INDEX|https?://[\w.-]*(?:pypi|pythonhosted|artifactory|nexus)",
}
#: These name such things in order to refuse them.
REFUSING = ("tests/test_repository.py", "tests/book/test_notebooks.py", "companion/notebooks.py", "Makefile")


@pytest.mark.parametrize("what", FOREIGN)
def test_no_file_names(what):
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=False)
    if not listed.stdout:
        pytest.skip("this is no git checkout, so there is no list of tracked files")
    names = [name for name in listed.stdout.split("\0")[:-1] if (ROOT / name).is_file() and name not in REFUSING]
    texts = {name: (ROOT / name).read_bytes().decode("utf-8", "replace") for name in names}
    assert {name: found for name, text in texts.items() if (found := re.findall(FOREIGN[what], text))} == {}


def test_citation_can_be_read():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["cff-version"] == "1.2.0" and citation["message"] and citation["title"]
    assert citation["type"] == "software" and all(author["name"] for author in citation["authors"])
    assert [each["year"] for each in citation["references"]] == [1982, 1989, 1993, 2006, 2014]
    assert all(each["title"] and each["authors"] for each in citation["references"])


def test_conda_has_the_ranges_of_the_project():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    named = [*project["dependencies"], *sum(project["optional-dependencies"].values(), [])]
    ranges = dict(re.match(r"([\w-]+)([^;\s]*)", each.lower()).groups() for each in named)
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    conda = dict(each.removeprefix("python-").split(" ") for each in listed if " " in each)
    assert conda.pop("python") == project["requires-python"] and len(conda) > 20
    assert conda == {name: ranges[name] for name in conda}
