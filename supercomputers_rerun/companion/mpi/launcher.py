"""Starting ranks on this machine, hearing what they say, and ending them together."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from supercomputers_rerun.companion import host
from supercomputers_rerun.companion.common import Refusal, Unavailable, UnverifiedError, plural, require_integer
from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.kernels.mpi import world
from supercomputers_rerun.kernels.runtime.resources import FOLDERS

#: What a rank writes to speak to the launcher; anything else is for people.
PREFIX = "@rerun "
#: Seconds in which mpiexec has to end its ranks.
_GRACE = 5.0
#: What a rank may raise that a caller knows.
KINDS = {kind.__name__: kind for kind in (UnverifiedError, ValueError, MemoryError, OSError)}
#: A rank is one thread unless it starts more itself, and imports nothing from the current folder.  MPICH would leave
#: its topology in /tmp, and start ranks by srun inside a job of Slurm.
_VARIABLES = {
    "PYTHONUNBUFFERED": "1", "PYTHONSAFEPATH": "1", "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1",
    FOLDERS: "", "HWLOC_XMLFILE": "", "HYDRA_LAUNCHER": "fork", "HYDRA_RMK": "user",
}  # fmt: skip
#: What another launcher told this process of its own job, and how its user has mpi4py begin and end.
_FOREIGN = re.compile(r"(PMI|PMIX|OMPI)_(?!MCA_)|MPI4PY_RC_")


class JobError(Refusal):
    """An MPI job did not end as it should; the message is one sentence, ``output`` what the job said."""

    def __init__(self, message: str, output: str = ""):
        super().__init__(message)
        self.output = output


def mpiexec() -> str:
    """Path of the launcher: that of this environment, else the first on the path.

    ``Unavailable`` where MPI is missing; the message says how to get it.
    """
    finding = host.mpi()
    if not finding.ok:
        raise Unavailable(f"MPI is missing ({finding.detail}); {world.HOW_TO_GET_IT}")
    return str(shutil.which("mpiexec", path=os.path.dirname(sys.executable)) or shutil.which("mpiexec"))


@contextlib.contextmanager
def started(arguments, ranks: int, folder):
    """``python arguments…`` on ``ranks`` ranks, as the ``subprocess.Popen`` of mpiexec; all have ended after the block.

    ``folder`` is that of their temporary files. What they print comes through a pipe, as text.
    """
    command = [mpiexec(), "-n", str(ranks), sys.executable, *arguments]
    given = {name: value for name, value in os.environ.items() if not _FOREIGN.match(name)}
    with subprocess.Popen(
        command,
        env={**given, **_VARIABLES, "TMPDIR": str(folder)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,
        preexec_fn=world.end_with_parent,
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:  # it ends its ranks, which end with those that started them in any case
                os.killpg(process.pid, signal.SIGTERM)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(_GRACE)
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)


def launch(arguments, ranks: int, oversubscribe: bool = False) -> list[dict]:
    """Run ``python arguments…`` on ``ranks`` ranks and return the messages that they sent.

    Nobody of the job is left when this returns or raises, and no temporary file. ``JobError`` where a rank died or
    failed. ``ValueError`` or ``MemoryError`` or ``OSError`` where this machine cannot take so many ranks
    (:func:`companion.host.require_ranks`); nothing was started. ``ValueError`` or ``MemoryError`` or ``OSError``
    or ``UnverifiedError`` as a rank raised it.

    ``arguments`` are for the interpreter: ``["-m", module, …]`` or a script.  ``oversubscribe``: more ranks than four a
    CPU are wanted.
    """
    require_integer("ranks", ranks, 1, host.MOST_RANKS)
    host.require_ranks(ranks, oversubscribe=oversubscribe)
    what, output, heard = f"the job of {plural(ranks, 'rank')}", [], []
    with tempfile.TemporaryDirectory(prefix="rerun-") as folder, started(arguments, ranks, folder) as process:
        for line in process.stdout:
            said, found, text = line.partition(PREFIX)
            output.append(said)
            if not found:
                continue
            try:
                message = json.loads(text)
            except ValueError:
                raise JobError(f"{what} was cut short in what a rank said", "".join(output)) from None
            if kind := KINDS.get(message.get("error")):
                raise kind(message["text"])
            if "error" in message:
                said = f"{what} failed on rank {message['rank']}: {message['error']}: {message['text']}"
                raise JobError(said, "".join(output))
            heard.append(message)
        code = process.wait()
    if code:
        killed = re.search(r"\(signal (\d+)\)", "".join(output))
        cause = f"a rank was killed by {signal.Signals(int(killed[1])).name}" if killed else f"exit code {code}"
        cause += "; /dev/shm may be full" if "SIGBUS" in cause else ""
        raise JobError(f"{what} ended early: {cause}", "".join(output))
    return heard


def run_record(id: str, ranks: int, oversubscribe: bool = False, **options):
    """The record of one experiment, run on ``ranks`` ranks of this machine.

    ``options`` are those of ``python -m supercomputers_rerun.companion.mpi.job``; errors as :func:`launch`.
    """
    arguments = ["-m", f"{__package__}.job", id]
    for key, value in options.items():
        if value is not None:
            arguments += [f"--{key}", str(value)]
    heard = launch(arguments, ranks, oversubscribe)
    try:
        record = json.loads("".join(message.get("piece", "") for message in heard))
    except ValueError:
        raise JobError(f"the job of {plural(ranks, 'rank')} ended without a whole record; run it again") from None
    record["machine"]["filesystem"]["source"], _ = host.temporary()  # the ranks have a folder of their own in it
    return runs.validate(record)
