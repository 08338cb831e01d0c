"""Processes that do one job after another, each bound to CPUs where the system can.

``Worker`` talks to ``kernels.jobs.serve`` in lines of JSON.  ``shared()`` is the pool of processes that all problems
use: a process is started when it is first asked for, and ends with the last state that holds the pool, or with this
process.
"""

import contextlib
import json
import os
import subprocess
import sys
import weakref


class Worker:
    """A process with changes of its environment if any are given."""

    def __init__(self, environment: dict[str, str] | None = None):
        self.process = subprocess.Popen(
            [sys.executable, "-m", f"supercomputers_rerun.{__package__}.serve"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, **(environment or {})},
            start_new_session=True,  # Ctrl-C is for the process that ends this one
        )

    def close(self) -> None:
        """End the process, whatever it is doing."""
        with contextlib.suppress(OSError):  # a process that died has let go of its end
            self.process.stdin.close()
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()

    def send(self, order: dict) -> None:
        """Send an order."""
        with contextlib.suppress(BrokenPipeError):  # who waits for the answer is told that the process ended
            self.process.stdin.write(json.dumps(order) + "\n")
            self.process.stdin.flush()

    def wait(self, on_writeup=None) -> dict:
        """The next answer; write-ups are told as they come.  ``OSError`` if the process died."""
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if answer["event"] != "write-up":
                return answer
            if on_writeup is not None:
                on_writeup(answer["path"])
        raise OSError(f"a job's process ended with code {self.process.wait()}; its message is on standard error")

    def ask(self, order: dict, on_writeup=None) -> dict:
        """Send an order and wait for its answer."""
        self.send(order)
        return self.wait(on_writeup)


class Pool:
    """Processes by number, started when they are first asked for."""

    def __init__(self):
        self._workers: dict[int, Worker] = {}
        self._end = weakref.finalize(self, Pool._close, self._workers)

    @staticmethod
    def _close(workers: dict[int, Worker]) -> None:
        while workers:
            workers.popitem()[1].close()

    def __getitem__(self, number: int) -> Worker:
        if number not in self._workers:
            self._workers[number] = Worker()
        return self._workers[number]

    def close(self) -> None:
        """End the processes; one that is asked for later is a new one."""
        self._close(self._workers)


_SHARED: "weakref.WeakValueDictionary[str, Pool]" = weakref.WeakValueDictionary()


def shared() -> Pool:
    """The pool of this process, as long as somebody holds it."""
    pool = _SHARED.get("pool")
    if pool is None:
        pool = _SHARED["pool"] = Pool()
    return pool
