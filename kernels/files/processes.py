"""Processes that are started once, are told things and answer; they end with the object that started them."""

import contextlib
import multiprocessing
import weakref
from collections.abc import Callable


def _end(connections, processes) -> None:
    for connection in connections:
        with contextlib.suppress(OSError):
            connection.send(None)
        connection.close()
    for process in processes:
        process.join(10)
        if process.is_alive():
            process.kill()
            process.join()


class Processes:
    """A process for each of ``arguments``: ``target(connection, *arguments)``, with a pipe to this one.

    Each ends when it is told None: when this object goes, or ``close`` is called.
    """

    def __init__(self, target: Callable, arguments: list[tuple]):
        context = multiprocessing.get_context("spawn")  # forking after threads exist is not safe
        self.connections: list = []
        processes: list = []
        self.close = weakref.finalize(self, _end, self.connections, processes)
        for each in arguments:
            here, there = context.Pipe()
            process = context.Process(target=target, args=(there, *each), daemon=True)
            process.start()
            there.close()
            self.connections.append(here)
            processes.append(process)

    def send(self, message) -> None:
        """Tell every process the same; one that has ended says why in its last answer."""
        for connection in self.connections:
            with contextlib.suppress(BrokenPipeError):
                connection.send(message)

    def answers(self) -> list:
        """The next answer of each; ``EOFError`` if a process has ended without one."""
        return [connection.recv() for connection in self.connections]
