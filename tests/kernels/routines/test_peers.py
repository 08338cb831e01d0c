"""The C renderings of kernels.routines answer as we do; nothing is timed."""

import pytest

from peers import Comparison, routines
from peers.kit import compiled


@pytest.mark.skipif(not compiled.compilers(), reason="no C compiler is found")
def test_c_and_numpy_agree_with_us(monkeypatch):
    monkeypatch.setattr(routines, "OPTION_SETS", {"C": ("-O1",)})
    monkeypatch.setattr(routines, "SCALAR_OPTIONS", {"C": ("-O1",)})
    groups, seen = [], []
    # a compiler that is not here is named as absent; what one does build is compared
    for item in (each for each in routines.comparisons(1) if isinstance(each, Comparison)):
        seen.append((item.group, item.label.partition(",")[0]))
        if seen.count(seen[-1]) > 1:
            continue  # only NPROMA or the number of fields differs
        ours = item.ours().copy()
        for name, peer in item.peers.items():
            assert item.check(ours, peer()) <= item.tolerance, (item.group, item.label, name)
        groups.append(item.group)
    assert len(set(groups)) == 10
    assert groups == sorted(groups, key=groups.index)  # the cases of a group follow one another
