"""Draws the picture of README.md, a figure of chapter 4, from data and stored runs: ``python book/picture.py``."""

from pathlib import Path

from companion import experiments, figures

PATH = Path(__file__).parent / "images" / "loops.svg"


def picture() -> "figures.Shown":
    """The five loops of the 2006 report with one thread, then and now."""
    entry = experiments.find("p5plus-smt")
    return entry.figures[0](entry.runs())


if __name__ == "__main__":
    shown = picture()
    figures.save(shown.figure, PATH, alt=f"{shown.title}. {shown.alt}")
