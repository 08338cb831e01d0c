"""Modules and cases for WebAssembly, made from the sources in two processes and kept under their digest."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from supercomputers_rerun.kernels.runtime import wasm
from supercomputers_rerun.kernels.runtime.jit import source_digest

_KEPT = 4


def build(base: Path) -> Path:
    """A folder in ``base`` with ``cases.json`` and the modules of :mod:`kernels.portable.everything`.

    What was made from the same sources is taken as it is; an edited kernel makes it anew, and the oldest of more than
    four goes.  ``RuntimeError`` if the process that compiles fails; the message ends with what it said.
    """
    folder = base / f"wasm-{source_digest()}"
    if not folder.is_dir():
        from supercomputers_rerun.kernels.portable import everything

        base.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=base, prefix=".wasm-") as temporary:
            command = [sys.executable, "-m", f"{__package__}.everything", temporary]
            options = {"env": wasm.environment(), "stderr": subprocess.PIPE, "text": True}
            parts = [subprocess.Popen([*command, *names], **options) for names in (["forecast"], everything.CASES)]
            said = [part.communicate()[1].strip() for part in parts]
            if any(part.returncode for part in parts):
                raise RuntimeError(f"kernels were not compiled to WebAssembly: {max(said, key=len)[-2000:]}")
            everything.gather(Path(temporary))
            os.chmod(temporary, 0o755)
            try:
                Path(temporary).rename(folder)
                Path(temporary).mkdir()  # which the end of the block removes
            except OSError:  # another process was first
                if not folder.is_dir():
                    raise
    folder.touch()
    kept = sorted(base.glob("wasm-*"), key=lambda path: path.stat().st_mtime, reverse=True)
    for old in kept[_KEPT:]:
        shutil.rmtree(old, ignore_errors=True)
    return folder
