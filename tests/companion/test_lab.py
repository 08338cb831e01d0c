"""JupyterLab starts for this machine's own user alone."""

import json
import re
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import nbformat
import pytest

from companion import lab, notebook_files
from companion.lab import FILES, LOOPBACK, OPENING, SETTINGS, START, options, refusal

ROOT = notebook_files.FOLDER.parent


@pytest.mark.parametrize("ip", ["127.0.0.1", "127.9.9.9", "::1", "localhost"])
def test_loopback_with_a_token_may_start(ip):
    assert refusal(ip, "secret") is None
    assert refusal(ip, "", "argon2:…") is None


@pytest.mark.parametrize("ip", ["", "*", "0.0.0.0", "::", "192.168.1.2", "example", "fe80::1"])
def test_other_addresses_are_refused(ip):
    assert "SSH tunnel" in refusal(ip, "secret")


def test_no_token_is_refused():
    assert "token is switched off" in refusal("127.0.0.1", "")


def test_the_program_does_not_start(tmp_path):
    command = [sys.executable, "-m", "companion.lab", "--no-browser", "--allow-root", "--port=0"]
    done = subprocess.run(
        [*command, "--IdentityProvider.token=", str(tmp_path)], text=True, capture_output=True, timeout=60
    )
    assert done.returncode == 2
    (said,) = [line for line in done.stderr.splitlines() if line.startswith("companion:")]
    assert "token is switched off" in said


@pytest.mark.parametrize(
    ("ip", "token", "password", "word"),
    [("0.0.0.0", "secret", "", "0.0.0.0"), ("::1", "", "", "switched off"), ("127.0.0.1", "", "argon2:…", "")],
)
def test_a_server_starts_as_its_settings_allow(monkeypatch, capsys, ip, token, password, word):
    """With a server that only notes that it was started."""
    started, provider = [], SimpleNamespace(token=token, hashed_password=password)
    server = SimpleNamespace(ip=ip, identity_provider=provider, start=lambda: started.append(ip))
    application = SimpleNamespace(initialize_server=lambda arguments: server)
    monkeypatch.setitem(sys.modules, "jupyterlab.labapp", SimpleNamespace(LabApp=application))
    monkeypatch.setenv("JUPYTER_CONFIG_PATH", "mine")
    assert lab.main(["--allow-root"]) == (2 if word else 0)
    assert bool(started) is not bool(word) and word in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ([], [LOOPBACK, OPENING, FILES]),
        (["--ServerApp.ip=::1"], [OPENING, FILES]),
        (["--ip=::1", "--LabApp.default_url=/lab"], [FILES]),
        (["--zip=1", "."], [LOOPBACK, OPENING, FILES]),
    ],
)
def test_what_the_command_line_leaves_open_is_added(given, left):
    assert options(given) == left


def test_the_start_page_lists_every_chapter_by_its_title_and_links_to_files():
    text = (ROOT / START).read_text(encoding="utf-8")
    links = dict((target, words) for words, target in re.findall(r"\[([^\]]+)\]\(([^)]+)\)", text))
    for path in notebook_files.paths():
        title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].removeprefix("# ")
        assert links[f"notebooks/{path.name}"] == title
    assert all((ROOT / target).is_file() for target in links)


def test_settings_of_lab_name_parts_that_lab_has():
    """A part that JupyterLab renamed would be passed over without a word."""
    found = json.loads((SETTINGS / "labconfig" / "default_setting_overrides.json").read_text())
    schemas = Path(sys.prefix) / "share/jupyter/lab/schemas"
    for part, settings in found.items():
        package, _, name = part.partition(":")
        schema = json.loads((schemas / package / f"{name}.json").read_text())
        assert set(settings) <= set(schema["properties"])


def test_root_is_told_in_one_sentence_what_to_add():
    sentence = lab.refused_to_root(["."], 0)
    assert "--allow-root" in sentence and "\n" not in sentence
    for arguments in (["--allow-root", "."], ["--ServerApp.allow_root=True"]):
        assert lab.refused_to_root(arguments, 0) is None
    assert lab.refused_to_root(["."], 1000) is None and lab.refused_to_root(["."], None) is None
