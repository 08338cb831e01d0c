"""A program in a Python of its own, for what depends on how a process begins or ends, or takes parts of it away."""

import os
import subprocess
import sys

from tools import ROOT


def start(program: str, *arguments, **environment) -> subprocess.CompletedProcess[str]:
    """Run ``program`` in the root of the project, with these variables beside those of this process, to its end."""
    command = [sys.executable, "-c", program, *map(str, arguments)]
    given = os.environ | environment
    return subprocess.run(command, cwd=ROOT, env=given, text=True, capture_output=True, timeout=580)


def said(program: str, *arguments, **environment) -> str:
    """What ``program`` wrote; it must not fail."""
    done = start(program, *arguments, **environment)
    assert done.returncode == 0, done.stdout + done.stderr[-3000:]
    return done.stdout
