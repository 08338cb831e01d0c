"""A ReFrame check file made from the register: every MPI experiment as a test that leaves a record.

ReFrame (https://reframe-hpc.readthedocs.io) submits jobs to Slurm, PBS, Flux and others, waits for them and
reports; nothing of that is done here.  Two files are written: the checks, and settings with one
partition for each scheduler, of which a site keeps its own.
"""

import json
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from companion import files
from companion.mpi import launcher
from companion.records.store import strict_json
from companion.terminal import plain

CHECKS, SETTINGS = "rerun_checks.py", "rerun_settings.py"

_CHECKS = '''"""Experiments over MPI as ReFrame tests; written by python -m companion reframe."""

import glob
import json
import os
import subprocess

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import parameter, performance_function, run_after, sanity_function, variable

#: experiment -> ranks unless -S Rerun.ranks=N asks otherwise
RANKS = {ranks!r}

@rfm.simple_test
class Rerun(rfm.RunOnlyRegressionTest):
    """Runs one experiment and keeps its record."""

    experiment = parameter(sorted(RANKS))
    preset = variable(str, value="quick")
    ranks = variable(int, value=0)
    threads = variable(int, value=1)
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    executable = {python!r}
    time_limit = "30m"
    keep_files = ["records"]

    @run_after("setup")
    def ask(self):
        self.num_tasks = self.ranks or RANKS[self.experiment]
        self.num_cpus_per_task = self.threads
        asked = f"{{self.num_tasks}} ranks of {{self.threads}} threads"
        self.skip_if(self.num_tasks < 1 or self.threads < 1, f"{{asked}}: both must be at least 1")
        if self.current_partition.scheduler.registered_name == "local":
            # what it needs of memory, disk, processes and files is known before the first rank is started
            asked = ["--preset", self.preset, "--threads", str(self.threads), "--ranks", str(self.num_tasks), "--plan"]
            command = [self.executable, "-m", {package!r}, "run", self.experiment, *asked]
            done = subprocess.run(command, capture_output=True, text=True)
            self.skip_if(done.returncode != 0, done.stderr.strip())
        elif cpus := self.current_partition.processor.num_cpus:  # of a node, where the site's settings tell
            self.skip_if(self.threads > cpus, f"{{asked}}: a node has {{cpus}} CPUs")
            self.num_tasks_per_node = min(self.num_tasks, cpus // self.threads)
        self.executable_opts = [
            "-m", {job!r}, self.experiment, "--preset", self.preset,
            "--threads", str(self.threads), "--out", "records",
        ]
        self.env_vars = {{
            "OPENBLAS_NUM_THREADS": str(self.threads),
            "OMP_NUM_THREADS": str(self.threads),
        }}

    @sanity_function
    def a_verified_record(self):
        return sn.assert_found(r'"record": ', self.stdout, msg="no record was written: a result failed its checks")

    @performance_function("s")
    def fastest_case(self):
        (path,) = glob.glob(os.path.join(self.stagedir, "records", "*.json"))
        with open(path, encoding="utf-8") as file:
            return min(min(case["samples"]) for case in json.load(file)["measurements"])
'''

_SETTINGS = '''"""Schedulers for the checks beside this file: keep your site's partition, add its account options.

Variables that jobs need, such as MPI4PY_LIBMPI for a site's own MPI, go into "env_vars" of a partition.  Only "local"
has any from the machine where this file was written.
"""

site_configuration = {{
    "systems": [
        {{
            "name": "rerun",
            "descr": "this machine, and clusters by scheduler",
            "hostnames": [".*"],
            "partitions": [
                {{"name": "local", "scheduler": "local", "launcher": {launcher!r}, "environs": ["python"],
                  "env_vars": {variables!r}}},
                {{"name": "slurm", "scheduler": "slurm", "launcher": "srun", "environs": ["python"]}},
                {{"name": "pbs", "scheduler": "pbs", "launcher": "mpiexec", "environs": ["python"]}},
                {{"name": "flux", "scheduler": "flux", "launcher": "flux", "environs": ["python"]}},
            ],
        }}
    ],
    "environments": [{{"name": "python"}}],
}}
'''


def write(folder, force: bool = False) -> list[Path]:
    """Write the check file and the settings into ``folder`` and return their paths.

    ``FileExistsError`` where one of them is there already and ``force`` is off.
    """
    from companion.experiments import REGISTER

    ranks = {entry.id: entry.ranks for entry in REGISTER.values() if entry.ranks}
    known, package = launcher.libraries(), __package__.removesuffix(".mpi")
    variables = [[name, str(value)] for name, value in sorted(known[0].variables.items() if known else ())]
    wanted = {
        CHECKS: _CHECKS.format(ranks=ranks, python=sys.executable, package=package, job=f"{__package__}.job"),
        SETTINGS: _SETTINGS.format(launcher="mpiexec" if known else "mpirun", variables=variables),
    }
    return [files.write_text(Path(folder) / name, text, overwrite=force) for name, text in wanted.items()]


def digest(report) -> dict:
    """What the file of ReFrame's ``--report-file`` says of our checks, without hosts, users and paths.

    ``reframe`` (its version), ``date``, ``cases`` (number), ``failures``, and ``checks``: for each experiment
    ``experiment``, ``partition``, ``ranks``, ``result``, ``seconds`` (all of the job), ``fastest_s`` (its shortest
    sample). ``ValueError`` where the file is no report of these checks. ``OSError`` where it is no regular file, or too
    large.
    """
    try:
        found = strict_json(Path(report).read_text(encoding="utf-8"))
        session = found["session_info"]
        checks = [_check(case) for part in found["runs"] for case in part["testcases"]]
        return {
            "reframe": _of(str, session["version"]),
            "date": datetime.fromtimestamp(_of(float, session["time_start_unix"]), UTC).date().isoformat(),
            "cases": _of(int, session["num_cases"]),
            "failures": _of(int, session["num_failures"]),
            "checks": sorted(checks, key=lambda check: check["experiment"]),
        }
    except (LookupError, TypeError, AttributeError, ValueError, ArithmeticError, RecursionError, OSError) as error:
        reason = f"{type(error).__name__}: {' '.join(str(error).split())[:200]}"
        raise ValueError(
            f"{report} is no report of ReFrame on these checks ({reason}); name its --report-file"
        ) from None


def _of(kind: type, value: Any) -> Any:
    """``value`` if it is of the type; a whole number is a number, too."""
    if type(value) is not kind and not (kind is float and type(value) is int):
        raise TypeError(f"{str(value)[:40]!r} is no {kind.__name__}")
    return plain(value) if isinstance(value, str) else value


def _check(case: dict[str, Any]) -> dict[str, Any]:
    """What a report says of one check."""
    values = list((case.get("perfvalues") or {}).values())
    return {
        "experiment": _of(str, case["experiment"]),
        "partition": f"{_of(str, case['system'])}:{_of(str, case['partition'])}",
        "ranks": _of(int, case["num_tasks"]),
        "result": _of(str, case["result"]),
        "seconds": round(_of(float, case["time_total"]), 2),
        "fastest_s": _of(float, values[0][0]) if values else None,
    }


def save_report(report, folder) -> Path:
    """Write the digest of ``report`` into ``folder``; the name carries its day."""
    found = digest(report)
    path = Path(folder) / f"reframe_{found['date']}.json"
    return files.write_text(path, json.dumps(found, indent=1) + "\n", overwrite=True)


def kept(folder) -> list[dict]:
    """The digests in ``folder``, oldest first."""
    return [json.loads(path.read_text(encoding="utf-8")) for path in sorted(Path(folder).glob("reframe_*.json"))]
