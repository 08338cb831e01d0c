"""JupyterLab as ``make lab`` starts it: on loopback, with a token, and without a request to anybody else."""

import json
import os
import re
import shutil
import subprocess
import sys
import time
from urllib.error import HTTPError
from urllib.request import urlopen

import nbformat
import pytest
from jupyter_client.manager import start_new_kernel

from supercomputers_rerun.companion import notebook_files, notebooks

ROOT = notebook_files.FOLDER.parent
BIN = os.path.dirname(sys.executable)
#: What every interpreter of this test does first: note whom it connects to.
WATCH = """
import sys
def note(event, arguments):
    if event == "socket.connect" and isinstance(arguments[1], tuple):
        with open({path!r}, "a") as file:
            print(arguments[1][0], file=file)
sys.addaudithook(note)
"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """What a running JupyterLab says of itself, and the file of addresses that it connected to."""
    tmp_path = tmp_path_factory.mktemp("lab")
    (tmp_path / "sitecustomize.py").write_text(WATCH.format(path=str(tmp_path / "asked")))
    folders = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("RUNTIME", "CONFIG", "DATA")}
    recipe = re.search(r"^lab:.*\n\t(.*)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    for word, stands_for in (("$(abspath $(BIN))", BIN), ("$(BIN)", BIN), ("$(ARGS)", ""), ("$$", "$")):
        recipe = recipe.replace(word, stands_for)
    environment = os.environ | folders | {"PYTHONPATH": str(tmp_path)}
    with open(tmp_path / "log", "w") as log:
        server = subprocess.Popen(
            f"exec env {recipe} --no-browser --allow-root --port=0", shell=True, cwd=ROOT, env=environment, stderr=log
        )
    try:
        until, found = time.monotonic() + 60, []
        while not found and time.monotonic() < until and server.poll() is None:
            time.sleep(0.1)
            found = [text for path in tmp_path.glob("RUNTIME/jpserver-*.json") if (text := path.read_text())]
        assert found, (tmp_path / "log").read_text()
        while "?token=" not in (tmp_path / "log").read_text() and time.monotonic() < until:
            time.sleep(0.1)
        yield json.loads(found[0]), tmp_path / "asked"
    finally:
        server.terminate()
        server.wait(30)


def test_lab_listens_on_loopback_with_a_token_and_asks_nobody(lab):
    about, asked = lab
    assert about["hostname"] in ("localhost", "127.0.0.1") and len(about["token"]) > 20
    with pytest.raises(HTTPError, match="403"):
        urlopen(f"{about['url']}api/contents")
    part = "@jupyterlab/apputils-extension:notification"
    with urlopen(f"{about['url']}lab/api/settings/{part}?token={about['token']}") as answer:
        properties = json.load(answer)["schema"]["properties"]
    assert properties["checkForUpdates"]["default"] is False and properties["fetchNews"]["default"] == "false"
    urlopen(f"{about['url']}lab/tree/START.md?token={about['token']}").close()
    printed = re.findall(r"http://\S+", (asked.parent / "log").read_text())
    assert printed and all("/lab/tree/START.md?token=" in address for address in printed)
    hosts = set(asked.read_text().split()) if asked.exists() else set()
    assert hosts <= {"127.0.0.1", "::1", "localhost"}


def test_commands_ask_nobody(tmp_path):
    asked = tmp_path / "asked"
    (tmp_path / "sitecustomize.py").write_text(WATCH.format(path=str(asked)))

    def python(*words):
        environment = os.environ | {"PYTHONPATH": str(tmp_path)}
        subprocess.run([sys.executable, *words], cwd=tmp_path, env=environment, check=True, timeout=120)

    companion = "-m", "supercomputers_rerun.companion"
    for words in ("list", "run nht1-formats --budget 0 -o records", "report records -o page"):
        python(*companion, *words.split())
        assert not asked.exists(), words
    python("-c", "import socket; socket.socket().connect_ex(('127.0.0.1', 9))")
    assert asked.read_text() == "127.0.0.1\n", "the watch is awake"


def test_a_chapter_that_is_only_opened_does_not_count_as_changed(lab):
    """JupyterLab writes these two into a notebook, and compares them with what it has read."""
    url, token = lab[0]["url"], lab[0]["token"]

    def asked(path):
        with urlopen(f"{url}api/{path}?token={token}") as answer:
            return json.load(answer)

    manager, client = start_new_kernel(kernel_name="python3")
    try:
        language = client.kernel_info(reply=True, timeout=60)["content"]["language_info"]
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    spec = asked("kernelspecs")["kernelspecs"]["python3"]["spec"]
    kernel = {"name": "python3", "display_name": spec["display_name"], "language": spec["language"]}
    for path in notebook_files.paths():
        found = asked(f"contents/notebooks/{path.name}")["content"]["metadata"]
        assert found == {"kernelspec": kernel, "language_info": language}
        assert nbformat.read(path, as_version=4).metadata == notebooks.METADATA
    assert asked("contents/START.md")["content"].startswith("# Supercomputers, Rerun")


def test_the_start_page_lists_every_chapter_by_its_title_and_links_to_files():
    text = (ROOT / "START.md").read_text(encoding="utf-8")
    links = {target: words for words, target in re.findall(r"\[([^\]]+)\]\(([^)]+)\)", text)}
    for path in notebook_files.paths():
        title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0].removeprefix("# ")
        assert links[f"notebooks/{path.name}"] == title
    assert all((ROOT / target).is_file() for target in links)


def test_the_first_steps_run_after_the_first_cell_of_the_chapter(monkeypatch):
    """As typed, with stored runs in place of new ones; only the star of the second step is measured."""
    monkeypatch.setenv("RERUN_RUNS", "stored")
    steps = re.findall(r"```python\n(.*?)\n```", (ROOT / "START.md").read_text(encoding="utf-8"), re.DOTALL)
    cells = nbformat.read(ROOT / "notebooks" / "04_p5plus.ipynb", as_version=4).cells
    known: dict = {}
    exec(next(cell.source for cell in cells if cell.cell_type == "code"), known)
    gave = []
    for step in steps:
        *before, last = step.splitlines()
        exec("\n".join(before), known)
        gave.append(eval(last, known))
    section, changed, numbers, samples = gave
    assert "random order" in section.alt and "your stride 3, 1 MB" in changed.alt
    assert len(numbers) > 100 and samples["seconds"].notna().sum() > 1000


def test_a_terminal_of_lab_finds_companion(lab):
    """It has the path of the server; the environment of an interpreter that runs names it (Linux)."""
    surroundings = ROOT.joinpath(f"/proc/{lab[0]['pid']}/environ").read_bytes().decode().split("\0")
    (path,) = (each.removeprefix("PATH=") for each in surroundings if each.startswith("PATH="))
    assert path.split(os.pathsep)[0] == BIN and shutil.which("companion", path=path)
