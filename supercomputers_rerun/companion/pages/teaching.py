"""What a teacher chooses from: minutes and exercises of every chapter, from its notebook and its experiments."""

import re

import pandas as pd

from supercomputers_rerun.companion import experiments, items, notebook_files, suite, tables
from supercomputers_rerun.companion.figures.rendering import Shown
from supercomputers_rerun.companion.figures.tabular import table

#: An exercise as a notebook names it: ``**1. A stride of your own.**``
EXERCISE = re.compile(r"^\*\*(\d+)\.(?: (.+?))?\.?\*\*", re.MULTILINE)
#: For which courses a chapter is written.
COURSES = {
    "xmp1982": "operating systems; numerical weather prediction",
    "aips58": "signal processing; history of computing",
    "nht1": "parallel input and output",
    "p5plus": "computer architecture",
    "xc30": "high-performance computing",
}


def exercises(document: str) -> list[str]:
    """Exercises of a chapter, in its order."""
    texts = notebook_files.texts(notebook_files.FOLDER / f"{items.page(document)}.ipynb")
    return [f"{number}. {title or 'a question'}" for text in texts for number, title in EXERCISE.findall(text)]


def chapters() -> Shown:
    """Chapters with the courses that they suit, minutes of their quick runs, and exercises."""
    rows = []
    for document in sorted(tables.documents(), key=items.page):
        entries = [entry for entry in experiments.REGISTER.values() if entry.document == document]
        takes = sum(suite.estimate(entry, "quick") for entry in entries if "quick" in entry.presets)
        rows.append(
            {
                "chapter": f'<a href="../notebooks/{items.page(document)}.html">{items.title(document)}</a>',
                "course": COURSES.get(document, ""),
                "all experiments, quick": suite.duration(takes),
                "exercises": "; ".join(exercises(document)),
            }
        )
    frame = pd.DataFrame(rows)
    return table(frame, caption="Chapters for courses", name="teaching", html=["chapter"])
