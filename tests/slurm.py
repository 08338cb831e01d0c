"""``python tests/slurm.py [--out FILE]``: the experiments over MPI under a real Slurm on this host, which then ends.

Starts munge, a controller and a node with Debian's ``slurm-wlm`` in a temporary folder, as root, and runs what the page
*On a cluster* tells: jobs of two and four ranks, a rank that dies, a time limit that strikes, and the check file
through ReFrame's Slurm partition.  Prints a line of JSON for each, writes all of them where ``--out`` names a file.
"""

import argparse
import json
import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from tools import ROOT

PROGRAMS = ("slurmctld", "slurmd", "srun", "sbatch", "scontrol", "munged")
CONFIGURATION = """
ClusterName=rerun
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
FirstJobId={first}
SlurmctldPort={ports[0]}
SlurmdPort={ports[1]}
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
ProctrackType=proctrack/pgid
TaskPlugin=task/none
MpiDefault=pmi2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SlurmdParameters=config_overrides
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
JobAcctGatherType=jobacct_gather/none
KillWait=5
ReturnToService=2
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory=1000 State=UNKNOWN
PartitionName=here Nodes=ALL Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
"""


def _port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


class Cluster:
    """A controller and a node on this host, for a ``with`` statement; ends what it started, by its process ids."""

    def __enter__(self):
        missing = [name for name in PROGRAMS if not shutil.which(name)]
        if missing or os.geteuid():
            why = f"{', '.join(missing)} missing; install slurm-wlm and munge" if missing else "root starts it"
            raise SystemExit(f"no Slurm here: {why}")
        self._stack = ExitStack()
        self.folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="rerun-slurm-")))
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _start(self):
        for name in ("state", "spool"):
            (self.folder / name).mkdir()
        self.folder.chmod(0o755)
        key = self.folder / "munge.key"
        key.write_bytes(os.urandom(1024))
        key.chmod(0o600)
        cpus = max(4, os.cpu_count() or 1)  # ranks share processors: this tries jobs, and measures nothing
        # MPICH names its shared memory after the job: another cluster's must not bear the same number
        first = secrets.randbelow(10**7) + 1
        made = CONFIGURATION.format(
            first=first,
            host=socket.gethostname().partition(".")[0],
            folder=self.folder,
            ports=[_port(), _port()],
            cpus=cpus,
        )
        (self.folder / "slurm.conf").write_text(made)
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf")}
        sockets = [f"--socket={self.folder}/munge.socket", f"--pid-file={self.folder}/munged.pid"]
        logs = [f"--log-file={self.folder}/munged.log", f"--seed-file={self.folder}/munged.seed"]
        self._daemon("munged", "--foreground", "--force", f"--key-file={key}", *sockets, *logs)
        self._daemon("slurmctld", "-D")
        self._daemon("slurmd", "-D")
        for _ in range(60):
            if "idle" in self.say("sinfo", "-h", "-o", "%T").stdout:
                return
            time.sleep(0.5)
        raise SystemExit(f"the node did not come up: {(self.folder / 'slurmd.log').read_text()[-2000:]}")

    def _daemon(self, *command):
        process = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
        )
        self._stack.callback(_end, process)

    def __exit__(self, *exception):
        """Cancel every job and wait for its end, since the daemons would leave its processes behind."""
        self.say("scancel", "--partition=here", "--full", timeout=60)
        for _ in range(60):
            if not self.say("squeue", "-h", timeout=60).stdout.strip():
                break
            time.sleep(0.5)
        self._stack.close()

    def say(self, *command, cwd=None, timeout=300):
        return subprocess.run(command, env=self.environment, cwd=cwd, capture_output=True, text=True, timeout=timeout)


def _end(process):
    for number in (signal.SIGTERM, signal.SIGKILL):
        if process.poll() is None:
            process.send_signal(number)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                continue
    process.wait()


def site() -> list[list[str]]:
    """Variables as the description of a site gives them: here this MPI, and memory as its network."""
    sys.path.insert(0, str(ROOT))
    from companion.mpi import libraries

    return [
        [name, str(value)]
        for name, value in {**libraries()[0].variables, "UCX_TLS": "self,sm", "SLURM_KILL_BAD_EXIT": "1"}.items()
    ]


def job(experiment: str, *options: str) -> list[str]:
    return [sys.executable, "-m", "companion.mpi.job", experiment, "--budget", "1", *options]


def ranks(cluster, number: int) -> dict:
    """``srun`` with so many ranks: one record, verified."""
    out = cluster.folder / f"records-{number}"
    command = ["srun", "-n", str(number), "--kill-on-bad-exit=1", *job("p5plus-exchange", "--out", str(out))]
    done = cluster.say(*command, cwd=ROOT)
    found = [json.loads(path.read_text()) for path in out.glob("*.json")] if out.is_dir() else []
    ok = done.returncode == 0 and [record["machine"]["mpi"]["ranks"] for record in found] == [number]
    return {"ok": ok, "said": done.stderr[-300:] if done.returncode else ""}


def dies(cluster) -> dict:
    """A rank that kills itself while the others wait: the job ends, and no record is there."""
    program = cluster.folder / "dies.py"
    program.write_text(
        "import os, signal, sys\nfrom mpi4py import MPI\n"
        "if MPI.COMM_WORLD.rank == 1: os.kill(os.getpid(), signal.SIGKILL)\nMPI.COMM_WORLD.Barrier()\n"
    )
    start = time.monotonic()
    done = cluster.say("srun", "-n", "2", "--kill-on-bad-exit=1", sys.executable, str(program), cwd=ROOT)
    return {"ok": done.returncode != 0, "seconds": round(time.monotonic() - start, 1)}


def limited(cluster) -> dict:
    """A time limit that strikes while ranks wait: Slurm ends the job, and nothing is left of it."""
    script, out = cluster.folder / "job.sh", cluster.folder / "limit.out"
    script.write_text(f"#!/bin/sh\nsrun -n 2 {sys.executable} -c 'import time; time.sleep(600)'\n")
    done = cluster.say("sbatch", "--parsable", "-n", "2", "-t", "0:01", "-o", str(out), str(script), cwd=cluster.folder)
    number, state = done.stdout.strip(), ""
    for _ in range(200):
        state = cluster.say("scontrol", "show", "job", number).stdout.partition("JobState=")[2].split()[0]
        if state not in ("PENDING", "RUNNING", "COMPLETING"):
            break
        time.sleep(1)
    return {"ok": state == "TIMEOUT", "state": state}


def reframe(cluster) -> dict:
    """The check file made from the register, through the partition of Slurm; its record is collected."""
    place = cluster.folder / "checks"
    made = cluster.say(sys.executable, "-m", "companion", "reframe", "--out", str(place), cwd=ROOT)
    if made.returncode:
        return {"ok": False, "said": made.stderr[-300:]}
    settings = place / "rerun_settings.py"  # this Slurm keeps no accounts, which ReFrame's "slurm" asks
    text = settings.read_text().replace('"scheduler": "slurm"', f'"env_vars": {site()!r}, "scheduler": "squeue"')
    settings.write_text(text)
    program = shutil.which("reframe", path=str(Path(sys.executable).parent))
    command = [program, "-C", "rerun_settings.py", "-c", "rerun_checks.py", "--system", "rerun:slurm"]
    command += ["--prefix", str(place), "-n", "experiment=p5plus-exchange", "-S", "Rerun.ranks=2"]
    command += ["-S", "Rerun.time_limit=2m", "-r"]
    done = cluster.say(*command, "--report-file", str(place / "report.json"), cwd=place)
    return {
        "ok": done.returncode == 0 and len(list((place / "output").rglob("records/*.json"))) == 1,
        "said": done.stdout[-600:] if done.returncode else "",
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path)
    parser.add_argument("--only", default="", help="word in the names of checks")
    arguments = parser.parse_args()
    out = arguments.out
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that the cluster ends with this
    with Cluster() as cluster:
        version = cluster.say("srun", "--version").stdout.split()[-1]
        found = {}
        for name, check in {
            "two ranks": lambda: ranks(cluster, 2),
            "four ranks": lambda: ranks(cluster, 4),
            "a rank that dies": lambda: dies(cluster),
            "a time limit": lambda: limited(cluster),
            "a check of ReFrame": lambda: reframe(cluster),
        }.items():
            if arguments.only not in name:
                continue
            found[name] = check()
            print(json.dumps({"check": name, **found[name]}), flush=True)
    if out:
        kept = {"slurm": version, "date": datetime.now(UTC).date().isoformat()}
        out.write_text(
            json.dumps(
                kept | {"checks": {name: each["ok"] for name, each in found.items()}},
                indent=1,
            )
            + "\n"
        )
    return 0 if all(each["ok"] for each in found.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
