"""Every chapter in a live JupyterLab: parameters changed, all cells run, figures on the screen and in the file.

The server is that of ``make lab`` on a copy of the notebooks, with a token, on loopback, and with folders of its own
for everything that Jupyter keeps.
"""

import json
import os
import shutil
import subprocess
import sys
import time

import nbformat
import pytest
from built import ROOT
from playwright.sync_api import Error

from companion import notebook_files

FOLDERS = ("JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTERLAB_WORKSPACES_DIR")
STARTING, RUNNING = 60, 500
THREADS = min(2, len(os.sched_getaffinity(0))) if hasattr(os, "sched_getaffinity") else 1
CHAPTERS = [pytest.param(path, id=path.stem) for path in notebook_files.paths()]
pytestmark = pytest.mark.weekly
PANEL = ".jp-NotebookPanel:not(.lm-mod-hidden)"
PROMPTS = f"""() => [...document.querySelectorAll('{PANEL} .jp-CodeCell')].map(
    cell => cell.querySelector('.jp-InputPrompt').textContent.trim())"""
FIGURES = f"""() => [...document.querySelectorAll('{PANEL} figure.rerun-figure svg')].filter(
    svg => svg.getBoundingClientRect().width > 150 && svg.getBoundingClientRect().height > 50).length"""


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    """Folder and address of a running JupyterLab, as ``make lab`` starts it."""
    root = tmp_path_factory.mktemp("lab")
    environment = dict(os.environ)
    for name in FOLDERS:
        environment[name] = str(root / name.lower())
    files = root / "files"
    shutil.copytree(notebook_files.FOLDER, files / "notebooks", ignore=shutil.ignore_patterns(".*"))
    for chapter in notebook_files.paths():
        _without_outputs(files / "notebooks" / chapter.name)
    shutil.copy(ROOT / "START.md", files)
    command = [sys.executable, "-m", "companion.lab", str(files), "--no-browser", "--allow-root", "--ServerApp.port=0"]
    with open(root / "log", "w") as log:
        server = subprocess.Popen(command, env=environment, stderr=log, cwd=root)
    try:
        yield files, _address(server, root)
    finally:
        server.terminate()
        server.wait(30)


def _without_outputs(path) -> None:
    """Take away what the stored chapter shows: what is seen afterwards was made here."""
    notebook = nbformat.read(path, as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    nbformat.write(notebook, path)


def _address(server, root):
    """Address and token, which the server writes into its runtime folder once it listens."""
    until = time.monotonic() + STARTING
    while time.monotonic() < until and server.poll() is None:
        for path in (root / FOLDERS[0].lower()).glob("jpserver-*.json"):
            about = json.loads(path.read_text() or "{}")
            if about:
                assert about["hostname"] == "127.0.0.1" and len(about["token"]) > 20
                return about["url"], about["token"]
        time.sleep(0.1)
    pytest.fail(f"JupyterLab did not start: {(root / 'log').read_text()[-1000:]}")


@pytest.fixture
def page(browser, lab):
    context = browser.new_context(viewport={"width": 1300, "height": 900})
    opened = context.new_page()
    opened.set_default_timeout(STARTING * 1000)
    yield opened
    context.close()


def test_lab_opens_at_the_list_of_chapters_and_a_link_opens_one(page, lab):
    _, (url, token) = lab
    page.goto(f"{url}?token={token}")
    page.wait_for_selector(".jp-MarkdownViewer table")
    page.get_by_role("link", name="IFS from IBM to Cray XC30, 2014").click()
    page.wait_for_selector(f"{PANEL} .jp-CodeCell")
    assert "05_xc30" in page.url


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_that_is_only_opened_is_not_modified(page, lab, chapter):
    """Neither marked so in its tab nor, when it is saved, in its file."""
    files, (url, token) = lab
    path = files / "notebooks" / chapter.name
    before = path.read_bytes()
    page.goto(f"{url}lab/tree/notebooks/{chapter.name}?token={token}&reset")
    page.wait_for_selector(f"{PANEL} .jp-CodeCell")
    page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
    page.wait_for_timeout(3000)  # what Lab writes into a notebook comes with the kernel's first answer
    assert not page.locator(".lm-TabBar-tab.jp-mod-dirty").count()
    _choose(page, "File", "docmanager:save")
    page.wait_for_timeout(1000)
    assert path.read_bytes() == before


def _changed(source: str) -> str:
    """The cell of parameters with another number of threads."""
    assert "threads = 1" in source
    return source.replace("threads = 1", f"threads = {THREADS}  # changed")


def _run_all(page, changed: str, place: int) -> None:
    """Type the parameters over those of the code cell at ``place``, and run every cell by the menu."""
    page.wait_for_selector('.jp-Notebook-ExecutionIndicator[data-status="idle"]')
    page.locator(f"{PANEL} .jp-CodeCell .cm-content").nth(place).click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(changed)
    _until(page, ("Run", "runmenu:run-all"), f"() => /[*\\d]/.test(({PROMPTS})()[0])")
    page.wait_for_function(f"() => !({PROMPTS})().includes('[*]:')", timeout=RUNNING * 1000)


def _until(page, command: tuple, condition: str) -> None:
    """Choose a command until its effect, which stays, is seen; a Lab that is still settling may drop it."""
    for _ in range(5):
        _choose(page, *command)
        try:
            return page.wait_for_function(condition, timeout=STARTING * 1000 / 2)
        except Error:
            continue
    dialogs = page.locator(".jp-Dialog").all_inner_texts()
    pytest.fail(f"{command[1]} had no effect; prompts {page.evaluate(PROMPTS)}; dialogs {dialogs}")


def _choose(page, menu: str, command: str) -> None:
    """A command of a menu; a Lab that is still settling may close the menu, so it is tried again."""
    for _ in range(10):
        page.get_by_role("menuitem", name=menu, exact=True).click()
        try:
            return page.locator(f'.lm-Menu-item[data-command="{command}"]').click(timeout=3000)
        except Error:
            page.keyboard.press("Escape")
    pytest.fail(f"the menu {menu} did not stay open")


def _saved(page, path) -> list:
    """Code cells of the file, once Lab has written what it shows."""
    page.keyboard.press("Escape")
    _until(page, ("File", "docmanager:save"), "() => !document.querySelector('.lm-TabBar-tab.jp-mod-dirty')")
    return [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_chapter_runs_with_changed_parameters(page, lab, chapter):
    files, (url, token) = lab
    path = files / "notebooks" / chapter.name
    code = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    place = next(n for n, cell in enumerate(code) if "parameters" in cell.metadata.get("tags", []))
    changed = _changed(code[place].source)
    # reset: or Lab restores the chapter before, whose cells are hidden
    page.goto(f"{url}lab/tree/notebooks/{chapter.name}?token={token}&reset")
    _run_all(page, changed, place)
    code = _saved(page, path)
    assert code[place].source == changed
    failed = {out.evalue: cell.source for cell in code for out in cell.outputs if out.output_type == "error"}
    assert not failed
    assert [cell.execution_count for cell in code] == list(range(1, len(code) + 1))
    html = [out.data["text/html"] for cell in code for out in cell.outputs if "text/html" in out.get("data", {})]
    figures = sum("".join(text).count('<figure class="rerun-figure"') for text in html)
    assert figures > 0 and page.evaluate(FIGURES) == figures
