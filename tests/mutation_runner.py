"""Runs mutants of kernels in a copy of the tree: ``mutation.py`` says which changes, this which oracle notices.

An oracle, ``verify`` or the tests, runs in a fork of this process, which has loaded the libraries but no kernel: the
fork imports the changed tree as if it were the first to do so, and compiles only what can see the change.  The rest
comes from compiled code of the unchanged tree, less that of modules that import the changed one.  Oracles have limits
of processor time, so that a machine that stands still does not count as an endless loop.
"""

import ast
import contextlib
import functools
import importlib
import json
import os
import resource
import shutil
import signal
import sys
import tempfile
import threading
from collections import defaultdict
from dataclasses import asdict
from pathlib import Path

from tools import ROOT

COPIED = ("kernels", "companion", "supercomputers_rerun", "tests", "pyproject.toml", "conftest.py")
LINKED = ("data", "notebooks", "book", "peers", "README.md", "CONTRIBUTING.md")
#: What kernels and their tests import that is not ours; loaded once, before any oracle is forked.
LIBRARIES = (
    *("numba", "numba.core.caching", "scipy.fft", "scipy.linalg", "scipy.special", "scipy.stats", "xarray", "pandas"),
    *("hypothesis", "hypothesis.extra.numpy", "pytest", "psutil", "astropy.io.fits", "netCDF4", "jsonschema"),
)
ORACLES = ("verify", "tests")  # of mutation testing: what tells right behaviour from wrong
RANKS_SECONDS = 120  # a job of two ranks
SECONDS = 1800  # an oracle that takes longer waits for ever: the change left somebody out of a barrier
#: Without it a failing property is shrunk, which takes longer than finding it.
PROFILE = """
settings.register_profile("mutation", deadline=None, database=None, phases=[Phase.explicit, Phase.generate])
"""
OPTIONS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "--hypothesis-profile=mutation")
#: What every rank of a job runs.
ON_RANKS = "tests/kernels/mpi/on_ranks.py"
#: The tests of every kernel: its ``verify`` on what it and its reference return for a small problem; guarded arrays.
CONTRACTS = (
    "tests/kernels/test_contract.py::test_results_verify_and_stay_within_the_footprint",
    "tests/kernels/test_contract.py::test_nothing_is_written_beyond_arrays_and_no_answer_comes_from_there",
)


def imported(file: str, text: str, files: set[str]) -> set[str]:
    """Those of ``files`` that a source imports."""
    names = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            names |= {each.name for each in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module, *(f"{node.module}.{each.name}" for each in node.names)}
    places = {name.replace(".", "/") for name in names}
    return {place + end for place in places for end in (".py", "/__init__.py")} & files


def imports(root: Path) -> dict[str, set[str]]:
    """For each file of ``kernels/`` and ``companion/``, and of the tests, the files of these that it imports itself."""
    rooms = [root / "kernels", root / "companion"]
    files = {path.relative_to(root).as_posix() for room in rooms for path in room.rglob("*.py")}
    tests = {path.relative_to(root).as_posix() for path in (root / "tests").rglob("test_*.py")}
    return {file: imported(file, (root / file).read_text(encoding="utf-8"), files) for file in sorted(files | tests)}


def users(wants: dict[str, set[str]]) -> dict[str, set[str]]:
    """For each file, every file that imports it, at once or by way of others, and itself."""
    found = {}
    for file in wants:
        known, todo = set(), [file]
        while todo:
            here = todo.pop()
            if here not in known:
                known.add(here)
                todo += [other for other in wants if here in wants[other]]
        found[file] = known
    return found


def on_two_ranks(problems) -> int:
    """Verify problems, each the name of a kernel and fields of its ``Problem``, on two ranks; 1 if any check fails."""
    from companion.mpi import launch

    told = launch([ON_RANKS, json.dumps(problems)], 2, timeout=RANKS_SECONDS) if problems else []
    failed = [(entry["kernel"], check) for entry in told for check in entry["checks"] if not check[3]]
    print(*failed[:1])
    return int(bool(failed))


def verify(names) -> int:
    """Let kernels prove themselves, run their quick preset with one thread, with two, and on two ranks, and lengthen it
    by repeats; 1 if any check fails."""
    from companion.bench import sampling
    from kernels.runtime.resources import usable_cpus

    over_ranks = []
    for name in names:
        kernel = importlib.import_module(name)
        for problem in kernel.PROOF.problems(kernel.Problem) if hasattr(kernel, "PROOF") else ():
            if failed := [str(check) for check in kernel.PROOF.checks(kernel, problem) if not check.ok]:
                print(f"{name}: {failed[0]}")
                return 1
        problem = kernel.Problem.preset("quick")
        for threads in range(1, min(2, usable_cpus()) + 1):
            try:
                result = kernel.run(problem, kernel.setup(problem), threads)
            except ValueError as refusal:
                if threads > 1 and str(refusal).startswith("threads = "):
                    continue  # it has one thread by its nature
                raise
            failed = [str(check) for check in kernel.verify(problem, result) if not check.ok]
            if failed:
                print(f"{name}: {failed[0]}")
                return 1
        if hasattr(problem, "ranks"):
            over_ranks.append((name.removeprefix("kernels."), asdict(kernel.Problem.preset("quick", ranks=2))))
        elif not kernel.footprint(problem).disk:  # files last longer than any clock asks for
            call = functools.partial(kernel.run, problem, kernel.setup(problem), 1)
            sampling.calibrate(call, sampling.shortest_sample(), name)
    return on_two_ranks(over_ranks)


def tests(items) -> int:
    """Run tests, and of those on ranks the problems of the named kernels that need two; 1 if any fails."""
    import pytest

    sys.path.insert(0, str(Path(ON_RANKS).parent))
    from test_on_ranks import PROBLEMS

    code = pytest.main([*OPTIONS, *(item for item in items if "/" in item)])
    return code or on_two_ranks([each for each in PROBLEMS if each[0] in items and each[1]["ranks"] == 2])


class Unfit(Exception):
    """An oracle fails on the unchanged tree, so that it says nothing of a change."""


class Stillborn(Exception):
    """numba cannot compile the change, so nobody needs to notice it."""


#: What numba says of code that it cannot compile.
UNCOMPILED = ("numba.core.errors.TypingError", "numba.core.errors.LoweringError", "numba.core.errors.UnsupportedError")


class Runner:
    """A copy of the tree with compiled code of its own, in which mutants are run one after another."""

    def __init__(self, folder: Path, rooms):
        folder.mkdir()
        self.root, self.cache = folder / "tree", folder / "cache"
        self._copy()
        for name in LIBRARIES:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
        self.wants = imports(self.root)
        self.users = users(self.wants)
        self.kernels = self._kernels(rooms)
        self.whole = self.cache / self._digest()
        self._begin_with(ROOT / ".cache" / "numba" / self.whole.name)
        self.seen: set[str] = set()  # kernels and tests that found nothing in the unchanged tree
        self.spent: dict[tuple[str, str], float] = defaultdict(float)  # what they cost, by oracle and room

    def _copy(self) -> None:
        self.root.mkdir()
        for name in COPIED:
            source, target = ROOT / name, self.root / name
            ignore = shutil.ignore_patterns("__pycache__")
            shutil.copytree(source, target, ignore=ignore) if source.is_dir() else shutil.copy2(source, target)
        for name in LINKED:
            (self.root / name).symlink_to(ROOT / name)
        conftest = self.root / "tests" / "conftest.py"
        text = conftest.read_text(encoding="utf-8").replace("import settings", "import Phase, settings")
        conftest.write_text(text + PROFILE, encoding="utf-8")

    def _kernels(self, rooms) -> dict[str, list[tuple[str, str]]]:
        """Name and file of every kernel with a preset ``quick``, by room."""

        def list_them():
            from kernels_found import KERNELS

            seen = set()
            for name, module in KERNELS.items():
                if not hasattr(module.Problem, "ranks"):
                    print("contract", name)
            for file in (file for file in self.users if file.startswith("kernels/")):
                name = file.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
                if name.count(".") and name.split(".")[1] in rooms:
                    module = importlib.import_module(name)
                    words = [getattr(module, word, None) for word in ("Problem", "setup", "run", "verify")]
                    if all(words) and hasattr(words[0], "preset") and words[2] not in seen:
                        seen.add(words[2])
                        print("kernel", name, file, hasattr(module, "PROOF"))

        found, self.proven = defaultdict(list), set()
        code, _ = self._ask(list_them, SECONDS)
        if code:
            raise SystemExit(f"the kernels cannot be imported:\n{self.heard[-3000:]}")
        lines = [line.split() for line in self.heard.splitlines()]
        self.contracts = {line[1] for line in lines if line[0] == "contract"}
        for _, name, file, proven in (line for line in lines if line[0] == "kernel"):
            found[name.split(".")[1]].append((name, file))
            self.proven |= {name} if proven == "True" else set()
        return found

    def _digest(self) -> str:
        """Name of the cache's folder for the tree as it is now."""

        def print_name():
            from kernels.runtime.cache import CACHE_FOLDER

            print(CACHE_FOLDER.name)

        self._ask(print_name, SECONDS)
        return self.heard.split()[-1]

    def _place(self, file: str, root: Path) -> str:
        """Folder of a file's compiled code inside the cache."""
        from numba.core.caching import _CacheLocator

        return _CacheLocator.get_suitable_cache_subpath(str(root / file))

    def _begin_with(self, ready: Path) -> None:
        """Take over what this checkout has compiled already: numba knows code by path and time of its source."""
        for file in self.wants:
            source, target = ready / self._place(file, ROOT), self.whole / self._place(file, self.root)
            if file.startswith("kernels/") and source.is_dir() and not any(target.glob("*.nbi")):
                shutil.copytree(source, target, dirs_exist_ok=True)

    def _ask(self, action, limit: float) -> tuple[int, float]:
        """Exit code and processor seconds of ``action`` in a process of its own; it is ended over its limit."""
        with tempfile.TemporaryFile() as heard:
            child = os.fork()
            if child == 0:
                code = 1
                try:
                    self._enter(heard.fileno(), limit)
                    code = int(action() or 0)
                except BaseException:
                    sys.excepthook(*sys.exc_info())
                finally:
                    sys.stdout.flush()
                    os._exit(code)
            alarm = threading.Timer(SECONDS, os.killpg, (child, signal.SIGKILL))
            alarm.start()
            _, status, used = os.wait4(child, 0)
            alarm.cancel()
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)  # what it may have started
            heard.seek(0)
            self.heard = heard.read().decode(errors="replace")
        return os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime

    def _enter(self, heard: int, limit: float) -> None:
        """Make this process ready for an oracle: in the tree, with limits, heard by nobody but the runner."""
        os.setsid()
        resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit) + 5))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        for handle in (1, 2):
            os.dup2(heard, handle)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        sys.stdin, sys.stdout, sys.stderr = open(0, closefd=False), open(1, "w", closefd=False), sys.stdout
        sys.stderr = sys.stdout
        places = [str(self.root), str(self.root / "tests")]
        own = (ROOT, ROOT / "tests")
        sys.path[:] = places + [place for place in sys.path if Path(place or ".").resolve() not in own]
        del sys.modules["tools"]  # its ROOT is this checkout: programs that tests start would run the unchanged tree
        sys.dont_write_bytecode = True
        os.environ |= {
            "PYTHONPATH": str(self.root),
            "NUMBA_CACHE_DIR": str(self.cache),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        os.chdir(self.root)

    def names(self, path: str) -> list[str]:
        """The kernels that use a file: those of its room, and those of other rooms that prove themselves."""
        room = Path(path).parts[1]
        rooms = sorted(self.kernels, key=lambda other: other != room)
        found = [name for other in rooms for name, file in self.kernels[other] if file in self.users[path]]
        return [name for name in found if name in self.proven or name.split(".")[1] == room]

    def tests(self, path: str) -> list[str]:
        """Tests of its room that can see a change of this file: the contract first, then by how near they import it.

        Of ``companion/`` also those of no room that import it themselves.  A kernel's name stands for its problems on
        two ranks.
        """
        top, room = Path(path).parts[:2]
        folder = f"tests/{top}/{room}/"
        found = [file for file in self.users[path] if file.startswith(folder)]
        if top != "kernels":
            whole = ("tests", "tests/companion")
            found += [each for each in self.users[path] if str(Path(each).parent) in whole and path in self.wants[each]]
            return sorted(set(found), key=lambda file: (path not in self.wants[file], file))
        found.sort(key=lambda file: (path not in self.wants[file], file))
        # a kernel inside another's package answers to the contract there
        own = [name for name in self.names(path) if name.split(".")[1] == room]
        contracts = {each for each in self.contracts for name in own if f"{name}.".startswith(f"{each}.")}
        ranks = [name.removeprefix("kernels.") for name in own if ".ranks" in name]
        return [*(f"{test}[{name}]" for test in CONTRACTS for name in sorted(contracts)), *found, *ranks]

    @staticmethod
    def _action(oracle: str, items: list[str]):
        if oracle == "verify":
            return lambda: verify(items)

        return lambda: tests(items)

    def _items(self, oracle: str, path: str) -> list[str]:
        """What an oracle runs to see a change of a file; ``verify`` sees kernels alone."""
        if oracle == "verify":
            return self.names(path) if path.startswith("kernels/") else []
        return self.tests(path)

    def measure(self, path: str, oracles=ORACLES) -> None:
        """Run the oracles on the unchanged tree: they must find nothing, and it compiles what mutants start from."""
        room = Path(path).parts[1]
        for oracle in oracles:
            items = [item for item in self._items(oracle, path) if item not in self.seen]
            if items:
                code, seconds = self._ask(self._action(oracle, items), 10**5)
                if code:
                    raise Unfit(f"{oracle} of {path} fails on the unchanged tree:\n{self.heard[-3000:]}")
                self.seen |= set(items)
                self.spent[oracle, room] += seconds

    def limit(self, oracle: str, path: str) -> float:
        """Seconds for a mutant, which also compiles anew what the unchanged tree may have found compiled."""
        return 120 + 4 * self.spent[oracle, Path(path).parts[1]]

    def _seed_cache(self, path: str) -> Path:
        """Compiled code for the changed tree: that of the unchanged one, linked, but for users of ``path``."""
        known = defaultdict(set)
        for file in self.users[path]:
            known[self._place(file, self.root)].add(Path(file).stem)
        changed = self.cache / self._digest()
        for folder in self.whole.iterdir():
            (changed / folder.name).mkdir(parents=True, exist_ok=True)
            for file in folder.iterdir():
                if file.name.split(".")[0] not in known.get(folder.name, ()):
                    (changed / folder.name / file.name).hardlink_to(file)
        return changed

    def evaluate(self, mutant, oracles=ORACLES) -> tuple[dict[str, bool], dict[str, float]]:
        """Which oracles notice the mutant, and what each cost in seconds; the tree is as before afterwards."""
        self.measure(mutant.path, oracles)
        path = self.root / mutant.path
        before, stamp = path.read_bytes(), path.stat()
        found, seconds = {}, {}
        path.write_bytes(before[: mutant.start] + mutant.new.encode() + before[mutant.end :])
        compiled = mutant.path.startswith("kernels/")
        changed = self._seed_cache(mutant.path) if compiled else None
        try:
            for oracle in oracles:
                if items := self._items(oracle, mutant.path):
                    code, seconds[oracle] = self._ask(self._action(oracle, items), self.limit(oracle, mutant.path))
                    found[oracle] = code != 0
                    if compiled and code and any(words in self.heard for words in UNCOMPILED):
                        raise Stillborn
                elif compiled:
                    found[oracle] = False
        finally:
            path.write_bytes(before)
            os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
            if changed is not None:
                shutil.rmtree(changed, ignore_errors=True)
        return found, seconds
