"""jsonschema comes without the grammar that takes longer than all else, and hides nothing from others."""

import subprocess
import sys

PROGRAM = """
import sys
from companion import tables
tables.load("xmp1982", "fig4_2")
assert "jsonschema" in sys.modules
assert "rfc3987_syntax" not in sys.modules and "lark" not in sys.modules
import importlib.util
print(importlib.util.find_spec("rfc3987_syntax") is not None)
"""


def test_no_grammar_is_built_for_a_table():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True\n"  # the lock has it: a later import finds it
