"""``python book/metadata.py write | check | release TAG | crate FOLDER``: what other services read about the project.

``CITATION.cff`` is the one place of title, authors, version, licence, keywords, and of ``repository-code`` and ``doi``
once they exist.  ``codemeta.json``, ``.zenodo.json`` and ``codecheck.yml`` are made from it; so is the RO-Crate of the
files of a release.
"""

import hashlib
import json
import mimetypes
import re
import sys
import tomllib
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import yaml

from companion.terminal import say

ROOT = Path(__file__).resolve().parents[1]
_SPDX = "https://spdx.org/licenses/"
#: What a checker of the code is to make, and what it shows.
MANIFEST = {
    "data/datapackage.json": "Descriptors of the tables, made by python -m companion.tables package",
    "book/images/loops.svg": "The picture of the README, made by python book/picture.py",
    "book/_build/html": "The whole book with all figures, made by make book",
}


def citation(root: Path = ROOT) -> dict[str, Any]:
    """``CITATION.cff`` as a dictionary."""
    return yaml.safe_load((root / "CITATION.cff").read_text(encoding="utf-8"))


def names(cited: dict[str, Any]) -> list[dict[str, str]]:
    """Authors: ``name``, and ``orcid`` where there is one."""
    found = []
    for author in cited["authors"]:
        name = author.get("name") or f"{author['given-names']} {author['family-names']}"
        found.append({"name": name} | ({"orcid": author["orcid"]} if author.get("orcid") else {}))
    return found


def _given(cited: dict[str, Any], **keys: str) -> dict[str, Any]:
    """Fields of ``CITATION.cff`` that exist, under the names that another form gives them."""
    return {there: cited[here] for there, here in keys.items() if cited.get(here)}


def codemeta(cited: dict[str, Any]) -> dict[str, Any]:
    """CodeMeta 3.0."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    authors = [
        {"type": "Organization" if "orcid" not in author else "Person", "name": author["name"]}
        | ({"id": author["orcid"]} if "orcid" in author else {})
        for author in names(cited)
    ]
    return {
        "@context": "https://w3id.org/codemeta/3.0",
        "type": "SoftwareSourceCode",
        "name": cited["title"],
        "description": cited["abstract"].strip(),
        "version": cited["version"],
        "license": _SPDX + cited["license"],
        "keywords": cited["keywords"],
        "author": authors,
        "programmingLanguage": "Python",
        "runtimePlatform": f"Python {project['requires-python']}",
        "softwareRequirements": project["dependencies"],
        **_given(cited, codeRepository="repository-code", identifier="doi"),
    }


def zenodo(cited: dict[str, Any]) -> dict[str, Any]:
    """What Zenodo reads from a repository when it archives a release."""
    return {
        "title": cited["title"],
        "description": cited["abstract"].strip(),
        "upload_type": cited["type"],
        "version": cited["version"],
        "license": cited["license"],
        "keywords": cited["keywords"],
        "creators": names(cited),
        "references": [
            f"{'; '.join(author['family-names'] for author in each['authors'])}: {each['title']}, {each['year']}"
            for each in cited["references"]
        ],
        **_given(cited, doi="doi"),
    }


def codecheck(cited: dict[str, Any]) -> dict[str, Any]:
    """Configuration 1.0 of CODECHECK; who checks fills in ``codechecker``, ``certificate``, ``report`` and the time."""
    return {
        "version": "https://codecheck.org.uk/spec/config/1.0/",
        "paper": {"title": cited["title"], "authors": names(cited), "reference": cited.get("doi", "")},
        "manifest": [{"file": file, "comment": comment} for file, comment in MANIFEST.items()],
        "codechecker": [],
        "certificate": "",
        "report": "",
        **_given(cited, repository="repository-code"),
    }


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"


def _yaml(content: dict[str, Any]) -> str:
    return "# Made by book/metadata.py from CITATION.cff.\n" + yaml.safe_dump(content, sort_keys=False, width=100)


MADE: dict[str, Callable[[dict[str, Any]], str]] = {
    "codemeta.json": lambda cited: _json(codemeta(cited)),
    ".zenodo.json": lambda cited: _json(zenodo(cited)),
    "codecheck.yml": lambda cited: _yaml(codecheck(cited)),
}


def stale(root: Path = ROOT) -> list[str]:
    """Files that are not what :func:`citation` makes of them."""
    cited = citation(root)
    return [
        name
        for name, make in MADE.items()
        if not (root / name).is_file() or (root / name).read_text(encoding="utf-8") != make(cited)
    ]


def releases(root: Path = ROOT) -> list[tuple[str, str]]:
    """``(version, date)`` of every release in the changelog, newest first."""
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    return re.findall(r"^## (\d+\.\d+\.\d+) \((\d{4}-\d{2}-\d{2})\)$", text, re.MULTILINE)


def require_release(tag: str, root: Path = ROOT) -> str:
    """The version that a tag names.

    Raises
    ------
    ValueError
        Unless changelog, ``CITATION.cff`` and ``pyproject.toml`` give that version, the changelog as its newest.
    """
    version = tag.removeprefix("v")
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    newest = next((found for found, _ in releases(root)), "none")
    given = {
        "CHANGELOG.md": newest,
        "CITATION.cff": str(citation(root)["version"]),
        "pyproject.toml": project["version"],
    }
    wrong = [f"{name} has {found}" for name, found in given.items() if found != version]
    if wrong or not tag.startswith("v"):
        raise ValueError(f"{tag} is no release: {', '.join(wrong) or 'a tag begins with v'}")
    return version


def _one_or_all(found: list[Any]) -> Any:
    """A single value without its list, as RO-Crate recommends."""
    return found[0] if len(found) == 1 else found


def crate(folder: Path, date: str, root: Path = ROOT) -> dict[str, Any]:
    """RO-Crate 1.1 of the files in ``folder``, as published on ``date`` (ISO 8601)."""
    cited = citation(root)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != "ro-crate-metadata.json")
    licence = {"@id": _SPDX + cited["license"], "@type": "CreativeWork", "name": cited["license"]}
    authors = [{"@id": f"#author-{n}", "@type": "Organization", **each} for n, each in enumerate(names(cited), 1)]
    described = [
        {
            "@id": path.relative_to(folder).as_posix(),
            "@type": "File",
            "name": path.name,
            "contentSize": str(path.stat().st_size),
            "encodingFormat": mimetypes.guess_type(path.name)[0] or "application/zip",
            "sha256": hashlib.sha256(path.read_bytes()).hexdigest(),
        }
        for path in files
    ]
    whole = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"{cited['title']}, {cited['version']}",
        "description": cited["abstract"].strip(),
        "datePublished": date,
        "license": {"@id": licence["@id"]},
        "author": _one_or_all([{"@id": author["@id"]} for author in authors]),
        "keywords": ", ".join(cited["keywords"]),
        "hasPart": [{"@id": each["@id"]} for each in described],
        **_given(cited, identifier="doi", url="repository-code"),
    }
    about = {
        "@id": "ro-crate-metadata.json",
        "@type": "CreativeWork",
        "conformsTo": {"@id": "https://w3id.org/ro/crate/1.1"},
        "about": {"@id": "./"},
    }
    return {
        # the words of 1.1 have none for a digest
        "@context": ["https://w3id.org/ro/crate/1.1/context", {"sha256": "https://schema.org/sha256"}],
        "@graph": [about, whole, licence, *authors, *described],
    }


def main(arguments: list[str]) -> int:
    match arguments:
        case ["write"]:
            for name, make in MADE.items():
                (ROOT / name).write_text(make(citation()), encoding="utf-8")
        case ["check"]:
            if found := stale():
                say(f"{', '.join(found)}: not as CITATION.cff says; run python book/metadata.py write", err=True)
                return 1
        case ["release", tag]:
            try:
                require_release(tag)
            except ValueError as error:
                say(f"metadata: {error}", err=True)
                return 1
        case ["crate", folder]:
            date = next((date for _, date in releases()), datetime.now(UTC).date().isoformat())
            made = crate(Path(folder), date)
            (Path(folder) / "ro-crate-metadata.json").write_text(_json(made), encoding="utf-8")
        case _:
            say("usage: python book/metadata.py write | check | release TAG | crate FOLDER", err=True)
            return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
