"""``python tests/emulated.py [--only WORD]``: every kernel verified on AArch64, which QEMU emulates on this host.

Debian's ``debootstrap`` and ``dpkg-deb`` unpack a small system of that architecture into ``.cache/aarch64``, uv adds
the wheels of the lock, and ``chroot`` starts its Python under ``qemu-aarch64-static``, a process for each kernel.
Nothing of that system is configured, and no file of this host is changed.  What is there already is taken as it is,
and each kernel's result is kept, so that another call goes on where one ended; ``--anew`` tries all again.

The line of this system in ``data/platforms.csv`` says which of them were right, and which were not tried yet.  Where
the programs or the rights are missing, a sentence says so and nothing is done.  Code for AArch64 is tried so, and its
speed is not: a kernel takes some ten times as long.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import platforms
from tools import ROOT

PLACE = ROOT / ".cache" / "aarch64"
SYSTEM, PYTHON = "Linux aarch64, glibc 2.28", "3.11"  # whose Python is Debian 12's
RELEASE = "bookworm"
EMULATOR = "qemu-aarch64-static"
PROGRAMS = (EMULATOR, "debootstrap", "dpkg-deb", "chroot", "cc")
LIMIT = 400  # s a kernel may take
#: Stands where the emulated Python was, and starts it: this host's kernel cannot, when one process starts another.
LAUNCHER = f"""
#include <unistd.h>
int main(int count, char **given) {{
    char *words[count + 4], name[] = "/usr/bin/python{PYTHON}", moved[] = "/usr/bin/python{PYTHON}.arm";
    words[0] = "qemu"; words[1] = "-0"; words[2] = name; words[3] = moved;
    for (int i = 1; i <= count; i++) words[i + 3] = given[i];
    return execv("/usr/bin/{EMULATOR}", words);
}}
"""
#: Proves one kernel the way its preset goes, or verifies a small run of one without proof; the last line is the answer.
PROOF = """
import json, platform, sys, tempfile
from kernels_found import KERNELS, small

assert platform.machine() == "aarch64"
kernel = KERNELS[sys.argv[1]]
if hasattr(kernel, "PROOF"):
    checks = kernel.PROOF.checks(kernel, kernel.PROOF.problem(kernel.Problem.preset("quick")))
else:
    with tempfile.TemporaryDirectory() as folder:
        problem = small(sys.argv[1], folder)
        checks = kernel.verify(problem, kernel.run(problem, kernel.setup(problem)))
print(json.dumps([len(checks), [str(check) for check in checks if not check.ok]]))
"""


def missing() -> str:
    """Why nothing can be emulated here, or nothing."""
    lacking = [name for name in PROGRAMS if not shutil.which(name)]
    if platform.system() != "Linux" or lacking:
        return f"{', '.join(lacking)} missing; install Debian's qemu-user-static, debootstrap and gcc"
    return "" if os.geteuid() == 0 else "root makes the system, and is not here"


def system() -> Path:
    """The folder of the small system, made where it is not there yet."""
    root = PLACE / "root"
    if not root.is_dir():
        PLACE.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=PLACE) as folder:
            made = Path(folder, "root")
            command = ["debootstrap", "--foreign", "--variant=minbase", "--arch=arm64", "--include=python3"]
            subprocess.run([*command, RELEASE, made], check=True, stdout=subprocess.DEVNULL)
            for package in made.glob("var/cache/apt/archives/*.deb"):
                subprocess.run(["dpkg-deb", "--extract", package, made], check=True)
            shutil.copy(shutil.which(EMULATOR), made / "usr" / "bin")
            python = made / "usr" / "bin" / f"python{PYTHON}"
            python.rename(f"{python}.arm")
            command = ["cc", "-static", "-x", "c", "-", "-o", python]
            subprocess.run(command, check=True, text=True, input=LAUNCHER)
            wheels = ["--python-platform", "aarch64-manylinux_2_28", "--python-version", PYTHON]
            wheels += ["--only-binary", ":all:", "--require-hashes", "--target", made / "opt" / "site"]
            command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", *wheels]
            subprocess.run([*command, "-r", ROOT / "requirements.lock"], check=True)
            made.rename(root)
    sources = root / "project"
    shutil.rmtree(sources, ignore_errors=True)
    for name in ("kernels", "tests/kernels_found.py"):
        (sources / name).parent.mkdir(parents=True, exist_ok=True)
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, sources / name)
    return root


def emulated(root: Path, program: str, *arguments: str) -> subprocess.CompletedProcess:
    """A program of Python inside, at the copy of the sources."""
    environment = {"PATH": "/usr/bin", "HOME": "/tmp", "LC_ALL": "C.UTF-8", "NUMBA_CACHE_DIR": "/tmp/numba"}
    environment["PYTHONPATH"] = "/project:/project/tests:/opt/site"
    begin = f"import os; os.chdir('/project')\n{program}"
    command = [shutil.which("chroot"), root, f"/usr/bin/python{PYTHON}", "-c", begin, *arguments]
    try:
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 124, "", f"longer than {LIMIT} s")


def proven(root: Path, name: str) -> dict:
    """How many checks of a kernel were made, which failed, and what ended it if it did not end by itself."""
    begin = time.monotonic()
    done = emulated(root, PROOF, name)
    checks, failed = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else (0, [])
    said = done.stderr.strip().splitlines()[-1:] if done.returncode else []
    return {"checks": checks, "failed": failed, "ended": said, "seconds": round(time.monotonic() - begin)}


def noted(found: dict[str, dict], names: list[str]) -> str:
    """What the table of platforms says of the kernels."""
    well = [name for name in names if name in found and found[name]["checks"] and not found[name]["failed"]]
    text = f"{len(well)} of {len(names)} kernels, emulated"
    for words, left in (
        ("not", [name for name in names if name in found and name not in well]),
        ("not tried", [name for name in names if name not in found]),
    ):
        text += f", {words} {', '.join(name.removeprefix('kernels.') for name in left)}" if left else ""
    return text


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="word in the names of kernels")
    parser.add_argument("--anew", action="store_true", help="try also what was tried before")
    arguments = parser.parse_args()
    if why := missing():
        print(f"nothing is emulated here: {why}")
        return 0
    root, kept = system(), PLACE / "proofs.json"
    found = json.loads(kept.read_text()) if kept.is_file() and not arguments.anew else {}
    said = emulated(root, "import json, kernels_found; print(json.dumps(kernels_found.SINGLE))")
    if said.returncode:
        raise SystemExit(f"the emulated Python does not start: {said.stderr[-500:]}")
    names = json.loads(said.stdout)
    for name in names:
        if name not in found and arguments.only in name:
            found[name] = proven(root, name)
            print(json.dumps({"kernel": name, **found[name]}), flush=True)
            kept.write_text(json.dumps(found))
    tried = f"wheels of the lock installed; {EMULATOR.removesuffix('-static')} of Debian"
    platforms.note(SYSTEM, PYTHON, kernels=noted(found, names), tried=tried)
    return int(any(each["failed"] or each["ended"] for each in found.values()))


if __name__ == "__main__":
    sys.exit(main())
