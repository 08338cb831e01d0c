"""Where the notebooks are, and what their code cells say."""

import json
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1] / "notebooks"


def paths(names=()) -> list[Path]:
    """The notebooks named, or every committed one."""
    return [Path(name) for name in names] or sorted(FOLDER.glob("*.ipynb"))


def sources(path: Path) -> list[str]:
    """The code cells of a notebook, in order."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
