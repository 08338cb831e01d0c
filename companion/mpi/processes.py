"""Child processes that cannot outlive their parent: one session, one mark, one end."""

import ctypes
import os
import secrets
import signal
import subprocess
import sys
import time

import psutil

from companion.mpi.marks import Mark
from kernels.runtime.interrupts import Deferred

MARK = "RERUN_MPI_JOB"
#: Seconds between the request to end and the end by force.
_GRACE = 2.0


def follow_parent():
    """In the child: end when the thread that started it ends, however it ends (Linux)."""
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Group:
    """A command and everything it starts, and the mark by which they know that we live.

    Launchers give each rank a session of its own, so a signal to one process group would miss them.  All
    descendants inherit an environment variable with a random value, and are found by it.
    """

    def __init__(self, command, environment, folder):
        self.token, self.mark = secrets.token_hex(16), Mark()

        def prepare():
            follow_parent()
            self.mark.sign()

        self.process = subprocess.Popen(
            command,
            env={**environment, **self.mark.variables, MARK: self.token},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            bufsize=1,
            start_new_session=True,
            preexec_fn=prepare,
        )

    def members(self) -> list[psutil.Process]:
        """Every living process with the mark."""
        found = []
        for process in psutil.process_iter():
            try:
                if process.environ().get(MARK) == self.token and process.status() != psutil.STATUS_ZOMBIE:
                    found.append(process)
            except (psutil.Error, OSError):
                pass
        return found

    def _signal(self, number) -> bool:
        """Send a signal to all members; False if there is none left."""
        found = self.members()
        for process in found:
            try:
                process.send_signal(number)
            except psutil.Error:
                pass
        return bool(found)

    def end(self) -> None:
        """Ask everybody to end, then make them; returns when nobody and nothing is left.  Signals wait until then."""
        with Deferred():
            if self._signal(signal.SIGTERM):
                limit = time.monotonic() + _GRACE
                while self.members() and time.monotonic() < limit:
                    time.sleep(0.05)
                while self._signal(signal.SIGKILL):
                    time.sleep(0.02)
            self.process.wait()
            if self.process.stdout is not None:
                self.process.stdout.close()
            self.mark.remove()


def environment(**more) -> dict[str, str]:
    """This process's environment with ``more``, and Python's output unbuffered."""
    return {**os.environ, "PYTHONUNBUFFERED": "1", **{name: str(value) for name, value in more.items()}}
