"""What a small installation says of what it lacks, and what a system says that is not measured."""

import importlib.util
import sys

import pytest

from supercomputers_rerun.companion import common


def test_the_sentence_names_module_and_extra(monkeypatch):
    assert common.sentence("netCDF4.utils") == (
        "netCDF4 is not installed; pip install -e '.[formats]' in the source, or of a wheel "
        "pip install 'FILE.whl[formats]', brings it"
    )
    assert common.sentence("nowhere") is None and common.sentence(None) is None
    assert common.missing(*common.DRAWING) is None
    found = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "PIL" else found(name))
    with pytest.raises(ImportError, match="^PIL is not installed; .*FILE.whl.notebooks.'"):
        common.require(*common.DRAWING)


@pytest.mark.parametrize("command", [["run", "p5plus-latency"], ["bench", "--plan"]])
def test_windows_is_told_where_to_measure(call, command, monkeypatch):
    monkeypatch.setattr(sys, "platform", "win32")
    code, out, err = call(*command)
    assert code == 2 and "WSL" in out + err
