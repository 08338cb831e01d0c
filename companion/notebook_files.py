"""Where the notebooks are, and what their code cells say."""

import json
from pathlib import Path

from kernels.files import foreign

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"
#: A committed notebook has some hundred kilobytes; one with its pictures may have megabytes.
LARGEST = 2**24


def paths(names=()) -> list[Path]:
    """The notebooks named, or every committed one."""
    return [Path(name) for name in names] or sorted(FOLDER.glob("*.ipynb"))


def sources(path: Path) -> list[str]:
    """The code cells of a notebook, in order."""
    cells = json.loads(text(path))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]


def title(path: Path) -> str:
    """The heading that opens a notebook."""
    return "".join(json.loads(text(path))["cells"][0]["source"]).splitlines()[0].removeprefix("# ")


def text(path) -> str:
    """What stands in the file of a notebook; ``OSError`` or ``ValueError`` where that is no text."""
    return foreign.content(path, LARGEST).decode("utf-8")
