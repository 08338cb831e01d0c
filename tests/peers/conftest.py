"""For the tests of comparisons: one without work, modules that offer what a test gives them, and a record's folder."""

import pytest

from supercomputers_rerun.companion.records import runs
from supercomputers_rerun.peers import Comparison


@pytest.fixture
def comparison():
    """``comparison(**changes)``: both sides answer 1 at once."""

    def make(**changes):
        fields = {
            "group": "g",
            "label": "l",
            "ours": lambda: 1.0,
            "peers": {"same": lambda: 1.0},
            "check": lambda ours, theirs: abs(ours - theirs),
        }
        return Comparison(**{**fields, **changes})

    return make


@pytest.fixture
def offered(monkeypatch):
    """``offered(items)``: what every module of peers has to compare, whatever is asked for."""
    return lambda items: monkeypatch.setattr(
        "supercomputers_rerun.peers.__main__.collect", lambda name, threads: iter(items)
    )


@pytest.fixture
def kept():
    """``kept(folder)``: the only record in it."""

    def read(folder):
        (path,) = folder.iterdir()
        return runs.read(path)

    return read
