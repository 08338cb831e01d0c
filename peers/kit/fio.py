"""fio as a peer: a program that writes or reads blocks of a file, with one thread and synchronous calls."""

import json
import shutil
import subprocess
from pathlib import Path


def moved(program: str, path: Path, rw: str, block: int, blocks: int, direct: bool, *more: str) -> int:
    """Bytes that fio says it has moved: ``rw`` is ``"write"`` or ``"read"``, ``block`` bytes at a time."""
    command = [program, "--name=peer", f"--filename={path}", f"--rw={rw}", "--ioengine=psync", "--thread"]
    command += [f"--bs={block}", f"--size={blocks * block}", f"--direct={int(direct)}", "--fallocate=posix", *more]
    done = subprocess.run([*command, "--output-format=json"], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)["jobs"][0][rw]["io_bytes"]


def versions() -> dict[str, str]:
    """What fio calls itself, where it is installed."""
    if not (program := shutil.which("fio")):
        return {}
    done = subprocess.run([program, "--version"], check=False, capture_output=True, text=True)
    return {"fio psync": done.stdout.strip()}
