"""Intervals, verdicts, the ledger, and the verdicts on the 1993, 2006 and 2014 reports."""

import math
import re
from decimal import ROUND_HALF_UP, Decimal

import digit_survey
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from companion import claims, tables
from companion.claims import engine, register, verdicts
from companion.claims.engine import ALL
from companion.claims.intervals import Interval, total
from companion.claims.sheets import Reader, Sheet
from companion.claims.verdicts import SLACK, significant_half, verdict

CONTRADICTS = {  # what 2006 prints, and what the printed inputs give, worked out by hand
    "smt_factor": ("1.3", 1.35),  # a half rounds away from zero
    "binding_gain[SMT Y, memory affinity N]": ("5-30 %", 400 / 155),
    "binding_gain[SMT Y, memory affinity Y]": ("5-30 %", 300 / 152),
    "section_shares[T799 10day forecast, comms]": ("14", 358 / 24.57),
    "memory_affinity_gain[SMT N, bind N]": ("1-2 %", 700 / 202),
    "memory_affinity_gain[SMT N, bind Y]": ("1-2 %", 1100 / 193),
    "comparison_peak[P5+]": ("11.8", 69600 / (768 * 7.6)),
    "p4_to_p5": ("1.56", 3848 / 2457),
    "comparison_comms": ("14.0 %", 358 / 24.57),
    "comparison_operations": ("1710000e9", 1.6962e15),
    "p5_over_p4": ("1.55", 3848 / 2457),
}
STATED_BOUNDS = {
    "aips58.cpu_factor",
    "aips58.ddtload_factor",
    "aips58.field_length",
    "nht1.cm2_overhead",
    "nht1.ipsc_overhead",
    "xc30.file_rate",
    "xmp1982.contention_below_three",
    "xmp1982.device_space",
    "xmp1982.throughput_ratio",
}

finite = st.floats(-1e6, 1e6)
widths = st.floats(0, 1e3)
fractions = st.floats(0, 1)


@given(finite, widths, fractions, finite, widths, fractions)
def test_interval_arithmetic_encloses_every_value(a, wa, fa, b, wb, fb):
    left, right = Interval.around(a, wa), Interval.around(b, wb)
    x, y = left.lo + fa * (left.hi - left.lo), right.lo + fb * (right.hi - right.lo)
    slack = 1e-6 * (1 + abs(a) + wa) * (1 + abs(b) + wb)
    for result, value in (
        (left + right, x + y),
        (left - right, x - y),
        (left * right, x * y),
        (left + b, x + b),
        (a + right, a + y),
        (a - right, a - y),
        (a * right, a * y),
    ):
        assert result.lo - slack <= value <= result.hi + slack
        assert result.lo - slack <= result.mid <= result.hi + slack


@given(finite, widths, fractions, finite, widths, fractions)
def test_interval_division_encloses_every_value(a, wa, fa, b, wb, fb):
    assume(abs(b) > wb + 1)
    left, right = Interval.around(a, wa), Interval.around(b, wb)
    x, y = left.lo + fa * (left.hi - left.lo), right.lo + fb * (right.hi - right.lo)
    result = left / right
    assert result.lo - 1e-9 * (1 + abs(result.lo)) <= x / y <= result.hi + 1e-9 * (1 + abs(result.hi))
    inverse = a / right
    assert inverse.lo - 1e-9 * (1 + abs(inverse.lo)) <= a / y <= inverse.hi + 1e-9 * (1 + abs(inverse.hi))


def test_division_by_zero_and_by_what_may_be_zero():
    with pytest.raises(ZeroDivisionError, match="printed zero"):
        Interval.around(1) / 0
    result = Interval.around(1) / Interval.around(0.3, 0.5)
    assert (result.lo, result.hi) == (-math.inf, math.inf) and result.mid == pytest.approx(1 / 0.3)


def test_total_adds_ends():
    assert total([Interval.around(1, 0.5), Interval.around(2, 0.25), 3]) == Interval(6, 5.25, 6.75)


@pytest.mark.parametrize(
    "printed, value, half, expected",
    [
        ("1.22", 1.215, 0, "agrees"),
        ("1.22", 1.2249, 0, "agrees"),
        ("1.22", 1.2251, 0, "contradicts"),
        ("1.22", 1.2251, 0.001, "rounding"),
        ("1.22", 1.2149, 0, "contradicts"),
        ("1.22", 1.225, 0, "contradicts"),  # a half rounds away from zero
        ("1.3", 1.35, 0, "contradicts"),
        ("1.4", 1.35, 0, "agrees"),
        ("-1.3", -1.35, 0, "contradicts"),
        ("-1.4", -1.35, 0, "agrees"),
        ("0", 0.5, 0, "contradicts"),
        ("0", -0.5, 0, "contradicts"),
        ("1.3", 1.36, 0.01, "contradicts"),  # meets the end that does not belong to it
        ("1.3", 1.36, 0.02, "rounding"),
        ("13 %", 12.96, 0, "agrees"),
        (".42", 0.417, 0, "agrees"),
        ("2112 CPUs", 2112, 0, "agrees"),
        ("2112 CPUs", 2113, 0, "contradicts"),
        ("1,049,275,053,531", 1049275053531, 0, "agrees"),
        ("1,049,275,053,531", 1049275053532, 0, "contradicts"),
        ("2e6", 2140702, 0, "agrees"),
        ("2e6", 2600000, 0, "contradicts"),
        ("> 9", 9.19, 0, "agrees"),
        ("> 9", 9, 0, "contradicts"),
        ("> 9", 8.9, 0.2, "rounding"),
        (">= 9", 9, 0, "agrees"),
        ("< 4 %", 3.9, 0, "agrees"),
        ("< 4 %", 4, 0, "contradicts"),
        ("< 4 %", 4.1, 0.2, "rounding"),
        ("<= 4", 4, 0, "agrees"),
        ("5-30 %", 5, 0, "agrees"),
        ("5-30 %", 30.4, 0, "agrees"),
        ("5-30 %", 31, 0, "contradicts"),
        ("5-30 %", 31, 1, "rounding"),
        ("~3000 s", 3400, 0, "agrees"),
        ("~3000 s", 3600, 0, "contradicts"),
        ("~20 %", 16.5, 0, "agrees"),
        ("~0.15", 0.16, 0, "contradicts"),
        ("0", 0.2, 0, "agrees"),
    ],
)
def test_verdict(printed, value, half, expected):
    assert verdict(printed, Interval.around(value, half)) == expected


@given(st.floats(-1e5, 1e5), st.integers(0, 4))
def test_a_correctly_rounded_value_agrees_and_a_far_one_contradicts(value, places):
    # a half away from zero, also one that binary fractions miss by less than SLACK: the rule of the ledger
    printed = str((Decimal(value) * (1 + Decimal(SLACK))).quantize(Decimal(1).scaleb(-places), ROUND_HALF_UP))
    assert verdict(printed, Interval.around(value)) == "agrees"
    assert verdict(printed, Interval.around(float(printed) + 1.01 * 10.0**-places)) == "contradicts"


@given(st.floats(0, 1e5), st.floats(0, 100), st.floats(0, 100))
def test_a_wider_interval_never_makes_a_contradiction(value, narrow, more):
    order = ["contradicts", "rounding", "agrees"]
    first = verdict("1234.5", Interval.around(value, narrow))
    assert order.index(verdict("1234.5", Interval.around(value, narrow + more))) >= order.index(first)


@pytest.mark.parametrize("text, half", [("3000", 500), ("20", 5), ("25", 0.5), ("0.15", 0.005), ("0", 0.5)])
def test_significant_half(text, half):
    assert significant_half(text) == half


def made(document, *lines):
    """The claims of a register whose rows give only what matters, by name."""
    empty = dict.fromkeys(register.COLUMNS, "") | {"where": "here", "statement": "{item}"}
    found = engine.check(register.build(document, [empty | line for line in lines]))
    return {claim.id.removeprefix(f"{document}."): claim for claim in found}


def test_a_claim_is_what_its_row_says():
    (claim,) = made(
        "nht1", {"claim": "parts", "printed": "{prose.components} parts", "formula": "prose.components"}
    ).values()
    assert (claim.id, claim.printed, claim.verdict, claim.interval) == ("nht1.parts", "5 parts", "agrees", (5, 5))


def test_the_words_of_the_register_check_cells_rows_and_columns():
    each = {"for": "rows of ifs_times"}
    parts = "sum(comms, parallel, io, serial, barrier, missing)"
    found = made(
        "p5plus",
        each | {"claim": "sums", "statement": "The parts of {item} add up.", "printed": "{wall}", "formula": parts},
        each | {"claim": "shares", "printed": "{io_percent}", "formula": "100 * io / wall"},
        {"claim": "walls", "for": "run in a; rows of ifs_times", "printed": "{wall}", "formula": "wall"},
        {"claim": "twice", "item": "P5+", "printed": "{p4_p5['P5+', wall]}", "formula": "ifs_times['4D-Var', wall]"},
    )
    assert found["sums[4D-Var]"].recomputed == 3121 and found["sums[4D-Var]"].statement == "The parts of 4D-Var add up."
    assert found["walls[a T399 EPS]"].verdict == "agrees"
    assert found["twice[P5+]"].verdict == "contradicts" and found["twice[P5+]"].recomputed == 3121
    assert len([name for name in found if name.startswith("shares")]) == 3


def test_rows_with_an_empty_cell_make_no_claim():
    row = {"claim": "parts", "for": "rows of fig5_4", "printed": "{total}", "formula": "net_forecast + write_sum"}
    assert len(made("xmp1982", row)) == len(Sheet("xmp1982", "fig5_4").keys()) - 7


def test_a_bound_of_ours_is_not_shown_as_printed():
    row = {"printed": "{prose.point_bytes} bytes", "bound": "<"}
    found = made(
        "nht1",
        row | {"claim": "below", "formula": "prose.components"},
        row | {"claim": "above", "formula": "prose.group_nodes"},
        row | {"claim": "other", "formula": "prose.components", "bound": "< 5 bytes"},
    )
    below = found["below"]
    assert (below.printed, below.bound, below.verdict) == ("40 bytes", "< 40 bytes", "our bound")
    assert found["above"].verdict == "contradicts"
    assert (found["other"].bound, found["other"].verdict) == ("< 5 bytes", "contradicts")


def test_what_cannot_fail_has_a_verdict_of_its_own_until_it_fails():
    row = {"printed": "{prose.point_bytes}", "instead": "identity"}
    found = made(
        "nht1",
        row | {"claim": "same", "formula": "prose.point_bytes"},
        row | {"claim": "other", "formula": "prose.components"},
    )
    assert [claim.verdict for claim in found.values()] == ["identity", "contradicts"]


def test_a_base_of_ours_is_no_agreement():
    row = {"claim": "size", "instead": "our base", "reason": "The base is not named."}
    found = made(
        "nht1",
        row | {"item": "fits", "printed": "{prose.point_bytes}", "formula": "prose.point_bytes"},
        row | {"item": "nearly", "printed": "1.6", "formula": "prose.file_size * 1.03"},
        row | {"item": "not", "printed": "{prose.point_bytes}", "formula": "prose.components"},
    )
    assert [claim.verdict for claim in found.values()] == ["our base", "our base", "contradicts"]


def test_no_bound_of_ours_is_in_the_printed_column():
    """Words of bounds in a printed value come from the documents: "less than 4 %", "more than 9", "at least"."""
    stated = {claim.id.partition("[")[0] for claim in claims.check() if claim.printed[:1] in "<>" and claim.printed}
    assert stated == STATED_BOUNDS


def test_a_sheet_addresses_cells_and_names_what_is_missing():
    sheet = Sheet("p5plus", "ifs_times")
    assert sheet["4D-Var", "wall"] == Interval.around(3121, 0.5) and sheet["4D-Var", "cpus"].lo == 768
    assert sheet.text("4D-Var", "peak_percent") == "5.68"
    assert Sheet("p5plus", "binding_lists").get("31", "no_smt") is None
    assert Sheet("nht1", "prose")["file_size"] == Interval.around(1.6, 0.05)
    with pytest.raises(KeyError, match="table ifs_times has no cell .*'3D-Var'"):
        sheet.text("3D-Var", "wall")


def test_contradictions_are_recomputed_by_hand():
    """Those of chapters 1 and 2 are in their folders; every other verdict is held by name in ``test_formulas.py``."""
    found = {claim.id: claim for claim in claims.check() if claim.document not in ("aips58", "xmp1982")}
    contradicted = {name for name, claim in found.items() if claim.verdict == "contradicts"}
    assert contradicted == {f"p5plus.{name}" for name in CONTRADICTS}
    for name, (printed, value) in CONTRADICTS.items():
        claim = found[f"p5plus.{name}"]
        assert claim.printed == printed and claim.recomputed == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("document", claims.documents())
def test_every_contradiction_is_explained_in_few_sentences(document):
    for claim in claims.check(document):
        if claim.verdict in ("contradicts", "not checkable"):
            sentences = re.findall(r"[.](?= [A-Z]|$)", claim.reason)
            assert 20 < len(claim.reason) < 420 and 1 <= len(sentences) <= 3, (claim.id, claim.reason)
            assert claim.reason.endswith("."), claim.id


@pytest.mark.parametrize("document", claims.documents())
def test_claims_are_complete_records(document):
    found = claims.check(document)
    assert len({claim.id for claim in found}) == len(found)
    for claim in found:
        assert claim.where and claim.statement and "{" not in claim.where + claim.statement
        if claim.verdict == "not checkable":
            assert math.isnan(claim.recomputed)
        else:
            assert claim.printed, claim.id
            assert claim.interval[0] <= claim.recomputed <= claim.interval[1], claim.id


@pytest.mark.parametrize("document", claims.documents())
def test_a_reason_belongs_to_a_claim(document):
    """No reason is left over from a claim that was renamed."""
    for maker in claims.ledger(document):
        items = {item for item, _, _ in maker.make(Reader(document))} | {ALL}
        assert set(maker.reasons) | set(maker.instead) <= items, maker.name


@pytest.mark.parametrize("document", claims.documents())
def test_printed_values_stand_in_the_tables(document):
    """A claim may print only what some cell of its document prints, sign and thousands apart."""
    values = set()
    for name in tables.names(document):
        half = tables.digits(document, name)
        for column, cells in tables.text(document, name).items():
            printed = half[column].notna()
            values |= {abs(float(cell)) for cell, known in zip(cells, printed, strict=True) if known}
    scale = {"K": 1e3, "M": 1e6}
    for claim in claims.check(document):
        for number, unit in re.findall(r"((?:\d[\d,]*\.?\d*|\.\d+)(?:e\d+)?)\s?([KM]\b)?", claim.printed):
            value = float(number.replace(",", "")) * scale.get(unit, 1)
            known = any(math.isclose(value, other, abs_tol=1e-12) for other in values)
            assert known or claim.id in KEYED_AS_TEXT, (claim.id, claim.printed)


KEYED_AS_TEXT = {  # dates are text in the tables
    "xc30.installation_years[IBM Power7 in service]",
    "xc30.installation_years[IBM Power7 out of service]",
    "xc30.installation_years[Cray XC30 in service]",
    "xc30.operational_month",
}


def test_every_digit_of_the_binding_lists_is_protected():
    makers = digit_survey.users(claims.ledger("p5plus"))
    lists = digit_survey.survey_table("p5plus", "binding_lists", makers["binding_lists"])
    assert lists and all(record["noticed"] == record["digits"] for record in lists)


def test_most_digits_of_a_report_are_protected():
    """Of the digits of NHT-1, those whose change by one a claim or a constraint of the tables notices."""
    makers = digit_survey.users(claims.ledger("nht1"))
    cells = [
        cell for name in tables.names("nht1") for cell in digit_survey.survey_table("nht1", name, makers.get(name, []))
    ]
    digits, noticed = (sum(cell[column] for cell in cells) for column in ("digits", "noticed"))
    assert digits == sum(map(len, (re.sub(r"\D", "", cell["cell"]) for cell in cells)))
    assert 0.75 < noticed / digits < 1


@pytest.mark.parametrize(
    ("mark", "value", "holds"), [(">", 5.0, False), (">", 5.1, True), ("<", 5.0, False), (">=", 5.0, True)]
)
def test_a_bound_itself_is_beyond_a_strict_mark(mark, value, holds):
    assert (verdicts._bounded(mark, 5.0, 0.0, Interval.around(value)) == verdicts.AGREES) is holds
