"""Where the notebooks are, what their code cells say, and whether one is being run."""

import json
import os
import sys
from pathlib import Path

from supercomputers_rerun import HOME

FOLDER = HOME / "notebooks"


def paths(names=()) -> list[Path]:
    """The notebooks named, or every committed one."""
    return [Path(name) for name in names] or sorted(FOLDER.glob("*.ipynb"))


def sources(path: Path) -> list[str]:
    """The code cells of a notebook, in order."""
    return ["".join(cell["source"]) for cell in _cells(path) if cell["cell_type"] == "code"]


def texts(path: Path) -> list[str]:
    """The cells of text of a notebook, in order."""
    return ["".join(cell["source"]) for cell in _cells(path) if cell["cell_type"] == "markdown"]


def headings(path: Path) -> list[str]:
    """Headings of a notebook's text, as they are written."""
    return [line.lstrip("#").strip() for text in texts(path) for line in text.splitlines() if line.startswith("#")]


def title(path: Path) -> str:
    """The heading that opens a notebook."""
    return "".join(_cells(path)[0]["source"]).splitlines()[0].removeprefix("# ")


def _cells(path: Path) -> list[dict]:
    return json.loads(path.read_text(encoding="utf-8"))["cells"]


def inside() -> bool:
    """Whether a cell of a notebook is running."""
    ipython = sys.modules.get("IPython")
    return ipython is not None and ipython.get_ipython() is not None


def opened() -> bool:
    """Whether a person has opened the notebook that runs: servers tell the kernels of these its name."""
    return "JPY_SESSION_NAME" in os.environ and inside()


def say(sentence: str) -> None:
    """Show a sentence below the cell that runs."""
    from IPython.display import Markdown, display

    display(Markdown(sentence))


def forget() -> None:
    """Take away what the cell that runs has shown so far, as soon as it shows something else: its progress."""
    from IPython.display import clear_output

    clear_output(wait=True)
