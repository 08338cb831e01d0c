"""The pages on what others would take up hold programs that run."""

import re
import runpy
from pathlib import Path

import pytest

BOOK = Path(__file__).parents[2] / "book"
CELL = re.compile(r"^```\{code-cell\}.*\n(?::.*\n)*((?:.*\n)*?)```$", re.MULTILINE)


@pytest.mark.parametrize("page", ["vectors", "transforms", "proof"])
def test_the_cells_of_a_page_are_one_program(page, tmp_path):
    text = (BOOK / f"{page}.md").read_text(encoding="utf-8")
    cells = CELL.findall(text)
    assert len(cells) == text.count("{code-cell}") > 1
    path = tmp_path / f"{page}.py"
    path.write_text("\n".join(cells), encoding="utf-8")
    runpy.run_path(str(path))
