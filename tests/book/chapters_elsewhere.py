"""``python tests/book/chapters_elsewhere.py CHAPTER …``: runs chapters as a system without Linux's names would.

A line of JSON for each cell that raises: chapter, number of the cell, what it raised.  What is taken away stands in
``tests/kernels/test_elsewhere.py``; MPI is hidden as well.
"""

import json
import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
os.environ |= {"RERUN_WITHOUT_MPI": "1", "RERUN_FIGURES": "text", "RERUN_BUDGET": "0.3"}
sys.path[:0] = [str(ROOT), str(ROOT / "tests"), str(ROOT / "tests" / "kernels")]


def failures(path):
    """``(number, sentence)`` of every cell that raises, run one after the other in one namespace."""
    import ast

    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell.instance()
    shell.colors = "NoColor"
    for number, cell in enumerate(json.loads(path.read_text())["cells"]):
        if cell["cell_type"] != "code":
            continue
        source = "".join(cell["source"])
        ast.parse(source)
        done = shell.run_cell(source, silent=True, store_history=False)
        error = done.error_before_exec or done.error_in_exec
        if error is not None:
            yield number, f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"


def main(chapters):
    import astropy.io.fits  # noqa: F401 - libraries as they were built for this system
    import IPython  # noqa: F401
    import matplotlib.pyplot  # noqa: F401
    import psutil
    from test_elsewhere import WITHOUT

    space = {}
    exec(WITHOUT, space)
    absent = space["absent"]
    # psutil as built for macOS asks the system in another way; this one reads /proc
    own = Path(psutil.__file__).parent
    space["absent"] = lambda path: absent(path) and own not in Path(sys._getframe(2).f_code.co_filename).parents
    os.chdir(ROOT)
    found = []
    for chapter in chapters:
        for path in sorted((ROOT / "notebooks").glob(f"{chapter}*.ipynb")):
            for number, sentence in failures(path):
                found.append({"chapter": path.stem, "cell": number, "error": sentence})
    print(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1:])
