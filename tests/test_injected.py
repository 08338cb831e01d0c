"""Every system call of a writer that fails, and every power cut: the old file, the new one, or one sentence.

``python tests/injector.py`` tries every call of every writer; here a few of those that take milliseconds.
"""

import injector
import pytest

needs_compiler = pytest.mark.skipif(
    injector.compiler() is None, reason="calls are intercepted with LD_PRELOAD and a C compiler; one is missing here"
)


@needs_compiler
@pytest.mark.parametrize(
    ("chosen", "every"),
    [(("text", "solution, positioned"), 3), pytest.param((), 1, marks=pytest.mark.weekly)],
    ids=["some", "all"],
)
def test_no_failing_call_and_no_power_cut_falls_short(chosen, every):
    rows = injector.started(list(chosen), every, power=True)
    assert [row for row in rows if row.get("short")] == []
    assert {row["old"] for row in rows} == {False, True}
    assert all(row["tried"] for row in rows)
    assert {row["fault"] for row in rows} == {"calls", "power cut"}


def states(log, begun=None):
    from pathlib import Path

    folder = Path("/w")
    begun = {folder / name: data for name, data in (begun or {}).items()}
    found = injector.states(log, begun, folder)
    return [{path.name: data for path, data in state.items()} for state in found]


WRITE = [("c", 1, 0, "/w/.t", "", b""), ("w", 1, 0, "", "", b"new!")]
NAMED = ("r", 0, 0, "/w/.t", "/w/x", b"")


def test_a_name_before_its_content_is_seen_as_damage():
    """Renaming without a sync is what the writers must not do: the replay shows an empty file of that name."""
    assert {"x": b""} in states([*WRITE, NAMED], {"x": b"old"})
    synced = states([*WRITE, ("s", 1, 0, "/w/.t", "", b""), NAMED], {"x": b"old"})
    assert {"x": b"new!"} in synced
    assert all(state["x"] in (b"old", b"new!") for state in synced)


def test_before_the_folder_is_synced_the_name_may_be_lost_and_afterwards_not():
    written = [*WRITE, ("s", 1, 0, "/w/.t", "", b""), NAMED]
    assert states(written)[-1] == {"x": b"new!"}
    assert {} in states(written)
    disk = injector.Disk({})
    for entry in [*written, ("s", 9, 0, "/w", "", b"")]:
        disk.call(*entry)
    assert [[path.name for path in names] for names in disk.history] == [["x"]]
