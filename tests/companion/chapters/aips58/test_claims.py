"""Tables and claims of AIPS Memo 58."""

from collections import Counter

import numpy as np
import pytest

from supercomputers_rerun.companion import claims, tables

CONTRADICTIONS = {  # printed, recomputed to the printed place
    "clsc_cpu_per_real[medium ASCAL]": (".78", 0.83),
    "clsc_over_nrao1_cpu[medium ASCAL]": (".12", 0.13),
    "executions_in_text[COMB]": ("7", 8),
}


@pytest.fixture(scope="module")
def ledger():
    return {claim.id.removeprefix("aips58."): claim for claim in claims.check("aips58")}


def test_contradictions_are_those_of_the_printed_digits(ledger):
    assert {
        name: (claim.printed, round(claim.recomputed, 2))
        for name, claim in ledger.items()
        if claim.verdict == "contradicts"
    } == CONTRADICTIONS


def test_all_ratio_cells_are_checked(ledger):
    columns = [name.partition("[")[0] for name in ledger if "[" in name]
    checked = Counter(column for column in columns if "_per_" in column or "_over_" in column)
    assert sum(checked.values()) == 8 * 13 * 3 - 1 and ledger["psc_over_nrao1_real_overflow"].verdict == "our bound"
    assert checked["psc_over_nrao1_real"] == 38 and checked["psc_over_clsc_cpu"] == 39


# worked out on paper from the tables
@pytest.mark.parametrize(
    "name, recomputed",
    [
        ("nrao1_cpu_per_real[small IMLOD]", 4.90 / 11.75),
        ("psc_over_nrao1_real[small UVMAP]", 14.0),
        ("psc_over_clsc_cpu[small VTESS]", 54.12 / 5.39),
        ("clsc_cpu_per_real[medium ASCAL]", 48.85 / 59),
        ("mean_of_whole_seconds[medium IMLOD PSC]", 1836.125),
        ("mean_of_whole_seconds[large UVLOD CLSC]", 112 / 3),
        ("executions_in_text[COMB]", 8),
        ("cpu_factor", 3.16 / 0.25),
        ("real_best", 4840 / 602),
        ("ddtload_factor", 63.91 / 6.95),
        ("real_at_psc", 16.00 / 113.33),
        ("nearly_equal", 106.37 / 93.88),
        ("factor_falls_to_medium[IMLOD]", 3.91 / 2.54),
        ("factor_falls_to_large[ASCAL]", 617.14 / 527.14),
        ("psc_over_nrao1_real_overflow", 1836.13 / 16.88),
    ],
)
def test_recomputed_by_hand(ledger, name, recomputed):
    assert ledger[name].recomputed == pytest.approx(recomputed, rel=1e-12)


def test_seven_executions_cannot_give_the_real_times_of_comb():
    comb = [
        tables.printed("aips58", f"ddt_{size}").set_index("problem").loc["COMB"]
        for size in ("small", "medium", "large")
    ]
    times = np.array([row[f"{system}_real"] for row in comb for system in ("nrao1", "clsc", "psc")])

    def fit(executions):
        return np.abs(np.round(times * executions) / executions - times) <= 0.005 + 1e-9

    assert fit(8).all() and not fit(7).any()


def test_the_three_sizes_print_the_same_problems_and_brackets():
    small, medium, large = (tables.printed("aips58", f"ddt_{size}") for size in ("small", "medium", "large"))
    for other in (medium, large):
        assert list(other["problem"]) == list(small["problem"])
        assert list(other["executions"]) == list(small["executions"])
    assert set(tables.printed("aips58", "problem_classes")["problem"]) == set(small["problem"])
    averaged = set(small["problem"][small["executions"] > 1])
    assert averaged == set(tables.printed("aips58", "executions")["problem"])


def test_asterisks_stay_in_the_text_and_are_missing_as_a_number():
    cells = tables.text("aips58", "ddt_medium").set_index("problem")
    assert cells.loc["IMLOD", "psc_over_nrao1_real"] == "****"
    frame = tables.printed("aips58", "ddt_medium").set_index("problem")
    assert frame["psc_over_nrao1_real"].isna().sum() == 1
    assert frame.loc["IMLOD", "psc_real"] / frame.loc["IMLOD", "nrao1_real"] > 99.99


def test_ddt_is_system_by_problem_by_size():
    ddt = tables.load("aips58", "ddt")
    assert dict(ddt.sizes) == {"size": 3, "problem": 13, "system": 3}
    assert ddt["cpu"].attrs["units"] == "s" and ddt["cpu"].notnull().all() and ddt["real"].notnull().all()
    assert list(ddt["size"].values) == ["small", "medium", "large"]
    assert float(ddt["cpu"].sel(size="small", problem="UVMAP", system="PSC")) == 9.49
    assert ddt["cpu_over_nrao1"].sel(system="NRAO1").isnull().all()
    assert (ddt["real"] >= ddt["cpu"]).all()
