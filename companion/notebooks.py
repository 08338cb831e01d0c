"""The form in which notebooks are committed, and the rules their cells keep.

``python -m companion.notebooks normalise [notebook …]`` executes notebooks and stores them in that form;
``python -m companion.notebooks check [notebook …]`` says what departs from it.  Outputs keep what strict
comparison can hold, execution counts and text, and pictures of stored runs, which are not compared: who opens a
notebook sees its figures.  HTML and the outputs of cells tagged ``nbval-ignore-output`` are rendered anew wherever the
notebook runs, so they stay out of version control.
"""

import hashlib
import os
import re
import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import nbformat
import typer

from companion import commands
from companion.files import write_text
from companion.notebook_files import paths

_IGNORED = {"nbval-ignore-output", "nbval-skip"}

#: Of every notebook; nothing of the machine that executed it.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
_UNSTABLE = (
    (re.compile(r"\b0x[0-9a-f]{6,}"), "a memory address"),
    (re.compile(r"(?<![\w.])/(?:home|root|tmp|work|Users|var|mnt)/\w"), "a path of one machine"),
)


def tags(cell) -> set[str]:
    """Tags of a cell."""
    return set(cell.metadata.get("tags", ()))


def compared(cell) -> bool:
    """Whether strict nbval compares an output of this cell with a stored one."""
    return (
        cell.cell_type == "code"
        and cell.execution_count is not None
        and bool(cell.outputs)
        and not tags(cell) & _IGNORED
    )


def _outputs(cell) -> list:
    """Text outputs in the order of their first appearance, streams of one name joined."""
    kept: list = []
    streams: dict = {}
    for output in () if tags(cell) & _IGNORED else cell.outputs:
        if output.output_type == "stream":
            if output.name in streams:
                streams[output.name].text += output.text
                continue
            streams[output.name] = nbformat.v4.new_output("stream", name=output.name, text=output.text)
            kept.append(streams[output.name])
        elif output.output_type == "error":
            kept.append(output)
        elif "text/plain" in output.data:
            kinds = [kind for kind in ("image/png", "text/plain") if kind in output.data]
            fields = {"data": {kind: output.data[kind] for kind in kinds}, "metadata": {}}
            if output.output_type == "execute_result":
                fields["execution_count"] = cell.execution_count
            kept.append(nbformat.v4.new_output(output.output_type, **fields))
    return kept


def normal(notebook):
    """A copy of ``notebook`` in the committed form.

    Cell ids follow from the source, metadata shrink to tags, outputs to text and pictures.
    """
    cells, seen = [], {}
    for cell in notebook.cells:
        digest = hashlib.sha256(cell.source.encode()).hexdigest()[:8]
        seen[digest] = seen.get(digest, 0) + 1
        make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}[cell.cell_type]
        fresh = make(cell.source, id=digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
        if tags(cell):
            fresh.metadata["tags"] = sorted(tags(cell))
        if cell.cell_type == "code":
            fresh.execution_count = cell.execution_count
            fresh.outputs = _outputs(cell)
        cells.append(fresh)
    result = nbformat.v4.new_notebook(cells=cells, metadata=METADATA)
    result.nbformat_minor = 5
    return result


def text(notebook) -> str:
    """``notebook`` as it stands in its file."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


def _cell_problems(cell) -> list[str]:
    found: list[str] = []
    if cell.cell_type == "markdown":
        return found
    if cell.execution_count is None:
        found.append("there is no execution count, so nothing would be compared; normalise the notebook")
    for output in cell.outputs:
        if output.output_type == "error":
            found.append(f"the cell failed with {output.ename}; mend it and normalise")
            continue
        plain = output.text if output.output_type == "stream" else output.data.get("text/plain", "")
        if tags(cell) & _IGNORED:
            continue
        found += [
            f"the output holds {what}, which differs from run to run; print something else"
            for pattern, what in _UNSTABLE
            if pattern.search(plain)
        ]
    return found


def problems(path: Path) -> list[str]:
    """Each departure of one notebook from form and rules, as a sentence naming notebook and cell."""
    path = Path(path)
    stored = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(stored, as_version=4)
    wanted, found = normal(notebook), []
    for number, (cell, form) in enumerate(zip(notebook.cells, wanted.cells, strict=True), start=1):
        where = f"{path.name}, cell {number}"
        found += [f"{where}: {problem}" for problem in _cell_problems(cell)]
        if dict(cell) != dict(form):
            parts = ", ".join(key for key in sorted({*cell, *form}) if cell.get(key) != form.get(key))
            found.append(f"{where}: {parts} not in normal form; normalise the notebook")
    if text(wanted) != stored and not found:
        found.append(f"{path.name}: metadata or layout not in normal form; normalise the notebook")
    counts = [cell.execution_count for cell in notebook.cells if cell.cell_type == "code"]
    if None not in counts and counts != list(range(1, len(counts) + 1)):
        found.append(f"{path.name}: execution counts do not run from 1; normalise the notebook")
    if not any(map(compared, notebook.cells)):
        found.append(f"{path.name}: no cell has a compared output; show a deterministic result in one")
    parameters = sum("parameters" in tags(cell) for cell in notebook.cells)
    if parameters > 1:
        found.append(f"{path.name}: {parameters} cells are tagged parameters; one may be")
    return found


def normalise(path: Path, execute: bool = True) -> bool:
    """Execute a notebook in its folder and store it in normal form; True if the file changed.

    ``nbclient.exceptions.CellExecutionError`` if a cell fails; the file then stays as it was.
    """
    path = Path(path)
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    if execute:
        from nbclient import NotebookClient

        os.environ |= {"RERUN_FIGURES": "stored", "RERUN_BUDGET": "0"}

        NotebookClient(
            notebook, timeout=600, kernel_name="python3", resources={"metadata": {"path": str(path.parent)}}
        ).execute()
    after = text(normal(notebook))
    if after == before:
        return False
    write_text(path, after, overwrite=True)
    return True


app = typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)

_Command = StrEnum("_Command", ["normalise", "check"])


@app.command()
def run(
    command: Annotated[_Command, typer.Argument(help="Store in the committed form, or say what departs from it.")],
    notebook: Annotated[list[str] | None, typer.Argument(help="All of notebooks/ when none is named.")] = None,
    keep_outputs: Annotated[bool, typer.Option("--keep-outputs", help="Normalise without executing.")] = False,
) -> None:
    """The committed form of notebooks; the status is 1 when something departs from it."""
    found = []
    with commands.one_sentence("companion.notebooks"):
        for path in paths(notebook or []):
            if command == "normalise":
                print(f"{path.name}: {'stored' if normalise(path, not keep_outputs) else 'unchanged'}")
            found += problems(path)
    print(*found, sep="\n", end="\n" if found else "", file=sys.stderr)
    raise typer.Exit(1 if found else 0)


if __name__ == "__main__":
    app(prog_name="python -m companion.notebooks")
