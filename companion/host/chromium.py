"""Chromium as the system has it: it prints the book, and tests its pages."""

import shutil

#: Names of its program, in the order in which they are tried.
_NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
#: How it is started: in a container, without a display, and asking nobody for anything.
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-dev-shm-usage"]


def executable() -> str | None:
    """Path of the program, or None."""
    return next(filter(None, map(shutil.which, _NAMES)), None)
