"""Signals that raise, Ctrl-C and SIGTERM, put off until a few steps that belong together are done."""

import _thread
import contextlib
import signal
import threading

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LATER = 0.02  # s


class Deferred:
    """``with Deferred():`` runs its block whole; a signal that comes meanwhile is raised when it has ended.

    Python calls handlers in the main thread alone, between any two of its operations: making a file and
    remembering that it has been made are two.  Blocking the signal would not do, since the system then gives
    it to another thread, which tells the main one all the same.  So the handlers are replaced.  The
    replacements hand a signal on as long as the block has not begun or has ended: there is no moment at which
    one is lost, nor one at which it raises within the block.

    ``ignored`` says that the block runs where Python drops exceptions, as it does in finalizers: the signal is
    then raised a moment later.
    """

    def __init__(self, ignored: bool = False):
        self._ignored, self._active = ignored, False
        self._before: dict = {}
        self._held: list[int] = []

    def __enter__(self):
        if threading.current_thread() is threading.main_thread():
            try:
                for number in _SIGNALS:
                    handler = signal.getsignal(number)
                    if callable(handler):  # not the system's own, which ends the process or does nothing
                        self._before[number] = handler
                        signal.signal(number, self._handle)
                self._active = True
            except BaseException:  # a signal that came before it was put off
                self._restore()
                raise
        return self

    def _restore(self) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def _handle(self, number, frame) -> None:
        if self._active:
            self._held.append(number)
        else:
            self._before[number](number, frame)

    def __exit__(self, *exception) -> None:
        self._active = False
        self._restore()
        for number in self._held:
            (_raise_later if self._ignored else signal.raise_signal)(number)


def _raise_later(number: int) -> None:
    with contextlib.suppress(RuntimeError):  # the interpreter ends: nothing is left to interrupt
        threading.Timer(_LATER, _thread.interrupt_main, (number,)).start()
