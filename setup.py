"""What ``pyproject.toml`` cannot say: in a wheel, the folders of the checkout lie under one import name.

``kernels`` and ``companion`` are names that other projects have too, so a wheel installs neither.  Its copies of the
modules import each other under ``supercomputers_rerun``; data, notebooks and what names the authors lie beside them,
where the code looks for them in a checkout.
"""

import ast
import re
import shutil
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py

NAME = "supercomputers_rerun"
ROOMS = ("kernels", "companion", "peers")
BESIDE = ("data/**/*.csv", "data/**/*.json", "data/**/*.toml", "data/LICENSE", "notebooks/*.ipynb", "CITATION.cff")
_COMMAND = re.compile(rf"(-m )({'|'.join(ROOMS)})\b")
#: A statement at the start of a line: of a module, of a program in a string, or of a notebook's cell in JSON.
_STATEMENT = re.compile(rf"^(\s*\"?\s*from )({'|'.join(ROOMS)})(?=[. ])", re.MULTILINE)


def renamed(text: str) -> str:
    """The text of a module or notebook whose imports of the rooms go to the package, and commands that it names."""
    return _COMMAND.sub(rf"\1{NAME}.\2", _STATEMENT.sub(rf"\1{NAME}.\2", text))


def require_movable(source: str) -> None:
    """``ValueError`` for ``import kernels.bt``, whose name would change with the module: ``from … import`` has none."""
    for node in ast.walk(ast.parse(source)):
        for each in node.names if isinstance(node, ast.Import) else ():
            if each.name.partition(".")[0] in ROOMS:
                raise ValueError(f"line {node.lineno}: import {each.name} cannot move to a wheel; use from … import")


class Build(build_py):
    """The modules as they are for an editable install, and under one name for a wheel."""

    def run(self):
        super().run()
        if self.editable_mode:
            return
        package, root = Path(self.build_lib, NAME), Path(__file__).parent
        for room in ROOMS:
            shutil.rmtree(package / room, ignore_errors=True)
            Path(self.build_lib, room).rename(package / room)
        for pattern in BESIDE:
            for path in root.glob(pattern):
                target = package / path.relative_to(root)
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(path, target)
        for path in [*package.rglob("*.py"), *package.glob("notebooks/*.ipynb")]:
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".py":
                require_movable(text)
            path.write_text(renamed(text), encoding="utf-8")

    def get_outputs(self, include_bytecode=True):
        """What lies in the build folder once :meth:`run` has moved it."""
        return [str(path) for path in Path(self.build_lib).rglob("*") if path.is_file()]


if __name__ == "__main__":
    setup(cmdclass={"build_py": Build})
