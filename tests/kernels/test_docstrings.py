"""Every argument of a compiled function is named where it is documented."""

import ast
import re
from pathlib import Path

KERNELS = Path(__file__).resolve().parents[2] / "kernels"


def compiled(tree: ast.Module):
    """Functions that ``kernel`` compiles, those inside others included."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            decorators = (ast.unparse(each).partition("(")[0] for each in node.decorator_list)
            if "kernel" in decorators:
                yield node


def unnamed(source: str) -> dict[str, list[str]]:
    """By function, arguments that neither its docstring names nor, in double backticks, that of its module."""
    tree = ast.parse(source)
    shared, found = ast.get_docstring(tree) or "", {}
    for node in compiled(tree):
        own = ast.get_docstring(node) or ""
        missing = [
            each.arg
            for each in node.args.args
            if not re.search(rf"(?<!\w){re.escape(each.arg)}(?!\w)", own) and f"``{each.arg}``" not in shared
        ]
        if missing:
            found[node.name] = missing
    return found


def test_arguments_are_named():
    paths = sorted(KERNELS.rglob("*.py"))
    found = {path.relative_to(KERNELS).as_posix(): unnamed(path.read_text(encoding="utf-8")) for path in paths}
    assert paths and {name: missing for name, missing in found.items() if missing} == {}


def test_an_argument_without_a_word_is_found():
    source = '"""Takes ``n``."""\n@kernel\ndef f(a, n, out):\n    """Into ``out``."""\n'
    assert unnamed(source) == {"f": ["a"]}
    assert unnamed(source.replace("@kernel", "@kernel(inline=True)")) == {"f": ["a"]}
    assert unnamed(source.replace("def f", "def _f")) == {"_f": ["a"]}
    assert unnamed(source.replace("@kernel", "@other")) == {}
