"""pyproject.toml, requirements.lock and environment.yml describe one environment."""

import importlib.metadata
import re
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
LOCK = (ROOT / "requirements.lock").read_text()
CONDA = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]

DIRECT = [Requirement(text) for text in PROJECT["dependencies"]]
EXTRAS = {name: [Requirement(text) for text in texts] for name, texts in PROJECT["optional-dependencies"].items()}
ALL = [*DIRECT, *(requirement for each in EXTRAS.values() for requirement in each)]
#: Extras whose packages conda brings; the others come through pip.
CONDA_EXTRAS = ("notebooks", "formats", "imaging")
#: What conda-forge calls otherwise.
CONDA_NAMES = {"zlib-ng": "python-zlib-ng"}
PINS = {}
for name, version, marker in re.findall(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)(?: *; *([^\\\n]+))?", LOCK, re.MULTILINE):
    PINS.setdefault(canonicalize_name(name), []).append((version, marker.strip()))


def _conda():
    names = {}
    for entry in CONDA:
        if isinstance(entry, str):
            name, _, spec = entry.partition(" ")
            names[canonicalize_name(name)] = spec.strip()
    return names


@pytest.mark.parametrize("requirement", ALL, ids=str)
def test_lock_chooses_within_the_ranges(requirement):
    pins = PINS.get(canonicalize_name(requirement.name))
    assert pins, f"{requirement.name} is not locked; run make lock"
    for version, _ in pins:
        assert requirement.specifier.contains(version, prereleases=True), f"{requirement} is locked at {version}"


def test_every_lock_entry_has_hashes_and_no_address():
    entries = re.split(r"\n(?=[A-Za-z0-9])", LOCK.strip())
    assert len(entries) > 100
    for entry in entries:
        assert re.match(r"^[A-Za-z0-9._-]+==\S+", entry), entry.splitlines()[0]
        assert "--hash=sha256:" in entry, entry.splitlines()[0]
    assert not re.search(r"https?://|--(?:extra-)?index-url|--find-links| @ ", LOCK)


def test_conda_lists_what_the_package_needs():
    conda = _conda()
    listed = [*DIRECT, *(requirement for extra in CONDA_EXTRAS for requirement in EXTRAS[extra])]
    names = (canonicalize_name(requirement.name) for requirement in listed)
    wanted = {CONDA_NAMES.get(name, name): each.specifier for name, each in zip(names, listed, strict=True)}
    assert set(conda) == set(wanted) | {"python", "pip"}, "environment.yml and pyproject.toml name other packages"
    for name, specifier in wanted.items():
        assert Requirement(f"{name}{conda[name]}").specifier == specifier, f"{name} has another range"
    assert conda["python"] == PROJECT["requires-python"]


def test_conda_takes_the_rest_from_the_package():
    pip = next(entry["pip"] for entry in CONDA if isinstance(entry, dict))
    assert pip == [f"-e .[{','.join(sorted(EXTRAS))}]"]


def test_this_environment_is_the_locked_one():
    for requirement in ALL:
        if requirement.marker and not requirement.marker.evaluate():
            continue
        installed = importlib.metadata.version(requirement.name)
        locked = [version for version, _ in PINS[canonicalize_name(requirement.name)]]
        assert installed in locked, f"{requirement.name} {installed} is installed, {locked} is locked; run make test"


def test_this_python_is_new_enough():
    assert (
        Version(".".join(map(str, sys.version_info[:3])))
        in Requirement(f"python{PROJECT['requires-python']}").specifier
    )
