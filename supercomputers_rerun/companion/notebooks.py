"""The form in which notebooks are committed.

``python -m supercomputers_rerun.companion.notebooks normalise [notebook …]`` executes notebooks and stores them in that
form.  Outputs keep what strict comparison can hold, execution counts and text, and of stored runs what is not compared,
pictures and sentences in Markdown: who opens a notebook sees figures and findings before running it.  HTML and the
outputs of cells tagged ``nbval-ignore-output`` are rendered anew wherever the notebook runs, so they stay out of
version control.
"""

import hashlib
import os
import sys
from pathlib import Path

import nbformat

from supercomputers_rerun.companion.common import stop, write_text
from supercomputers_rerun.companion.notebook_files import paths

#: Of cells whose output differs from run to run; that of a cell which tests skip is kept.
_IGNORED = {"nbval-ignore-output"}
#: Of every notebook; nothing of the machine that executed it.
METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def _outputs(cell, tags: list[str]) -> list:
    """Text and pictures in the order of their first appearance, streams of one name joined."""
    kept: list = []
    streams: dict = {}
    for output in () if set(tags) & _IGNORED else cell.outputs:
        if output.output_type == "stream" and output.name in streams:
            streams[output.name].text += output.text
        elif output.output_type == "stream":
            streams[output.name] = nbformat.v4.new_output("stream", name=output.name, text=output.text)
            kept.append(streams[output.name])
        elif output.output_type == "error":
            kept.append(output)
        elif "text/plain" in output.data:
            data = {
                kind: output.data[kind] for kind in ("image/png", "text/markdown", "text/plain") if kind in output.data
            }
            count = {"execution_count": cell.execution_count} if output.output_type == "execute_result" else {}
            kept.append(nbformat.v4.new_output(output.output_type, data=data, metadata={}, **count))
    return kept


def normal(notebook):
    """A copy of ``notebook`` in the committed form.

    Cell ids follow from the source, metadata shrink to tags, outputs to text and pictures.
    """
    cells, seen = [], {}
    for cell in notebook.cells:
        digest, tags = hashlib.sha256(cell.source.encode()).hexdigest()[:8], sorted(cell.metadata.get("tags", ()))
        seen[digest] = seen.get(digest, 0) + 1
        make = {"code": nbformat.v4.new_code_cell, "markdown": nbformat.v4.new_markdown_cell}[cell.cell_type]
        fresh = make(cell.source, id=digest if seen[digest] == 1 else f"{digest}-{seen[digest]}")
        if tags:
            fresh.metadata["tags"] = tags
        if cell.cell_type == "code" and _ANSWER in cell.source:
            fresh.metadata["jupyter"] = {"source_hidden": True}  # until a reader opens it
        if cell.cell_type == "code":
            fresh.execution_count, fresh.outputs = cell.execution_count, _outputs(cell, tags)
        cells.append(fresh)
    result = nbformat.v4.new_notebook(cells=cells, metadata=METADATA)
    result.nbformat_minor = 5
    return result


def text(notebook) -> str:
    """``notebook`` as it stands in its file."""
    return nbformat.writes(notebook).rstrip("\n") + "\n"


#: What shows an answer to an exercise.
_ANSWER = "figures.answer("


def without_answers(path: Path, folder: Path) -> Path:
    """Write a copy of a notebook without the cells that answer its exercises, and without outputs, to hand out."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if _ANSWER not in cell.source]
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return write_text(Path(folder) / Path(path).name, text(notebook))


def normalise(path: Path) -> bool:
    """Execute a notebook in its folder and store it in normal form; True if the file changed.

    ``nbclient.exceptions.CellExecutionError`` if a cell fails; the file then stays as it was.
    """
    from nbclient import NotebookClient

    path = Path(path)
    before = path.read_text(encoding="utf-8")
    notebook = nbformat.reads(before, as_version=4)
    surroundings = {**os.environ, "RERUN_FIGURES": "stored", "RERUN_RUNS": "stored", "RERUN_BUDGET": "0"}
    place = {"metadata": {"path": str(path.parent)}}
    NotebookClient(notebook, timeout=600, kernel_name="python3", resources=place).execute(env=surroundings)
    after = text(normal(notebook))
    if after != before:
        write_text(path, after, overwrite=True)
    return after != before


if __name__ == "__main__":
    if sys.argv[1:2] == ["without-answers"] and len(sys.argv) > 2:
        for each in paths(sys.argv[3:]):
            print(without_answers(each, Path(sys.argv[2])))
        raise SystemExit
    if sys.argv[1:2] != ["normalise"]:
        stop("notebooks", "say normalise, and which notebooks if not all")
    for each in paths(sys.argv[2:]):
        print(f"{each.name}: {'stored' if normalise(each) else 'unchanged'}")
