"""Processes that are started once, are told things and answer; they end with the object that started them."""

import contextlib
import multiprocessing
import signal
import weakref
from collections.abc import Callable
from multiprocessing import connection, resource_tracker


@contextlib.contextmanager
def _deaf():
    """Processes that are started inside never hear Ctrl-C: who started them ends them."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    resource_tracker.ensure_running()  # or it would start inside, and let the signal in again
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end(connections, processes) -> None:
    for process in processes:
        process.kill()
    for process in processes:
        process.join()
    for each in connections:
        each.close()


class Processes:
    """A process for each of ``arguments``: ``target(connection, *arguments)``, with a pipe to this one.

    They are killed when this object goes, or ``close`` is called; one that loses its starter gets ``EOFError``.
    """

    def __init__(self, target: Callable, arguments: list[tuple]):
        context = multiprocessing.get_context("spawn")  # forking after threads exist is not safe
        self.connections: list = []
        processes: list = []
        self.close = weakref.finalize(self, _end, self.connections, processes)
        for each in arguments:
            here, there = context.Pipe()
            self.connections.append(here)
            process = context.Process(target=target, args=(there, *each), daemon=True)
            with _deaf():
                process.start()
            processes.append(process)
            there.close()

    def send(self, message) -> None:
        """Tell every process the same; one that has ended is missed when its answer is due."""
        for each in self.connections:
            with contextlib.suppress(BrokenPipeError):
                each.send(message)

    def answers(self) -> list:
        """The next answer of each.  ``OSError`` as soon as one has ended without; the others are ended then."""
        found, waiting = {}, list(self.connections)
        while waiting:
            for each in connection.wait(waiting):
                waiting.remove(each)
                try:
                    found[each] = each.recv()
                except (EOFError, ConnectionResetError):
                    self.close()
                    raise OSError("a process that writes was ended from outside; run it again") from None
        return [found[each] for each in self.connections]
