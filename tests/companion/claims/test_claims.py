"""Intervals, verdicts, formulas, and the verdicts of every report."""

import hashlib
import math
import re
from decimal import ROUND_HALF_UP, Decimal
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from supercomputers_rerun.companion import claims, figures, tables
from supercomputers_rerun.companion.claims import register
from supercomputers_rerun.companion.claims.formulas import Turn, loop
from supercomputers_rerun.companion.claims.intervals import Interval, total
from supercomputers_rerun.companion.claims.register import Entry
from supercomputers_rerun.companion.claims.sheets import EmptyCell, Reader
from supercomputers_rerun.companion.claims.verdicts import SLACK, significant_half, verdict
from supercomputers_rerun.companion.pages import ledger

#: Claims of each document, and a digest of their names and verdicts in order: none comes, goes or changes unnoticed.
VERDICTS = {
    "aips58": (501, "c2cdf9ca7951"),
    "nht1": (62, "5dcfdc57a870"),
    "p5plus": (262, "385009705abf"),
    "xc30": (50, "3dc3ba466d74"),
    "xmp1982": (376, "8a21ad3ed639"),
}
#: Digest of the recomputed values of all, to six decimals, as the first edition had them, less one claim.
VALUES = "5dcad8a97bf2"
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
#: Words of bounds in a printed value come from the documents: "less than 4 %", "more than 9", "at least".
STATED_BOUNDS = {
    *("aips58.cpu_factor", "aips58.ddtload_factor", "aips58.field_length", "nht1.cm2_overhead", "nht1.ipsc_overhead"),
    *("xc30.file_rate", "xmp1982.contention_below_three", "xmp1982.device_space", "xmp1982.throughput_ratio"),
}
DATES = {"xc30.installation_years", "xc30.operational_month"}  # are text in the tables

finite, widths, fractions = st.floats(-1e6, 1e6), st.floats(0, 1e3), st.floats(0, 1)


@given(finite, widths, fractions, finite, widths, fractions)
def test_interval_arithmetic_encloses_every_value(a, wa, fa, b, wb, fb):
    left, right = Interval.around(a, wa), Interval.around(b, wb)
    x, y = left.lo + fa * (left.hi - left.lo), right.lo + fb * (right.hi - right.lo)
    results = [
        (left + right, x + y),
        (left - right, x - y),
        (left * right, x * y),
        (a - right, a - y),
        (a * right, a * y),
    ]
    if abs(b) > wb + 1:
        results += [(left / right, x / y), (a / right, a / y)]
    slack = 1e-6 * (1 + abs(a) + wa) * (1 + abs(b) + wb)
    for result, value in results:
        assert result.lo - slack <= value <= result.hi + slack and result.lo - slack <= result.mid <= result.hi + slack


def test_division_by_zero_and_by_what_may_be_zero():
    with pytest.raises(ZeroDivisionError, match="printed zero"):
        Interval.around(1) / 0
    result = Interval.around(1) / Interval.around(0.3, 0.5)
    assert (result.lo, result.hi) == (-math.inf, math.inf) and result.mid == pytest.approx(1 / 0.3)
    assert total([Interval.around(1, 0.5), Interval.around(2, 0.25), 3]) == Interval(6, 5.25, 6.75)


@pytest.mark.parametrize(
    "printed, value, half, expected",
    [
        ("1.22", 1.215, 0, "agrees"),
        ("1.22", 1.2251, 0.001, "rounding"),
        ("1.3", 1.35, 0, "contradicts"),  # a half rounds away from zero
        ("1.4", 1.35, 0, "agrees"),
        ("0", -0.5, 0, "contradicts"),
        ("1.3", 1.36, 0.01, "contradicts"),  # meets the end that does not belong to it
        ("1,049,275,053,531", 1049275053532, 0, "contradicts"),
        ("> 9", 9, 0, "contradicts"),
        ("> 9", 8.9, 0.2, "rounding"),
        (">= 9", 9, 0, "agrees"),
        (">= 0", 0, 0, "agrees"),
        ("0.05", 0.045, 0, "agrees"),  # as binary fractions 0.045 is less than 0.05 - 0.005
        ("5-30.5 %", 30.9, 0, "contradicts"),  # each end has its own last place
        ("< 4 %", 3.9, 0, "agrees"),
        ("5-30 %", 31, 1, "rounding"),
        ("~3000 s", 3400, 0, "agrees"),
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
    assert [significant_half(text) for text in ("3000", "20", "25", "0.15", "0")] == [500, 5, 0.5, 0.005, 0.5]


@given(st.floats(0, 1e5), st.floats(0, 100), st.floats(0, 100))
def test_a_wider_interval_never_makes_a_contradiction(value, narrow, more):
    order = ["contradicts", "rounding", "agrees"]
    first = verdict("1234.5", Interval.around(value, narrow))
    assert order.index(verdict("1234.5", Interval.around(value, narrow + more))) >= order.index(first)


@pytest.mark.parametrize(
    "text, expected",
    [
        ("(2 + 3) * 4 - 6 / 3", (18, 18, 18)),
        ("prose[chips] * 2", (16, 16, 16)),
        ("ifs_times['4D-Var', wall]", (3121, 3120.5, 3121.5)),
        ("exact(ifs_times['4D-Var', wall])", (3121, 3121, 3121)),
        ("about(prose.chips, 2)", (8, 6, 10)),
        ("floor(7 / prose.chips)", (0, 0, 0)),
        ("blades[32, cpus]", (32, 32, 32)),
        ("sum(prose.chips, 2, blades[..., cpus])", (90, 90, 90)),
        ("max(smt_binding[..., N, N, time])", (202, 201.5, 202.5)),
        ("nearest(190, smt_binding[..., N, N, time])", (202, 201.5, 202.5)),
        ("median(exact(blades[32, cpus]), blades[..., cpus])", (32, 32, 32)),
        ("max(blades[..., cpus] / blades[..., cpus])", (1, 1, 1)),
    ],
)
def test_a_formula_computes_with_printed_cells(text, expected):
    turn = Turn(Reader("p5plus"))
    value = turn.value(text)
    assert (value.mid, value.lo, value.hi) == expected
    assert turn.sentence("about {ifs_times['4D-Var', peak_percent]} %") == "about 5.68 %"


def test_an_empty_cell_has_no_number():
    with pytest.raises(EmptyCell):
        Turn(Reader("p5plus")).value("2 * changes['medium pages', gain_high]")


@pytest.mark.parametrize("text", ["smt_benefit['1 accumulator', tme]", "2 * tme", "row[tme]"])
def test_a_name_that_nothing_has_is_said_with_the_columns(text):
    (turn, *_) = loop("rows of smt_benefit", Reader("p5plus"))
    with pytest.raises(ValueError, match="^formula .*tme.* gflops_smt"):
        turn.value(text)


def test_loops_bind_words_and_rows():
    reader = Reader("p5plus")
    turns = list(loop("routine in main, laitli; rows of cpi_{routine} where group is T", reader))
    assert [turn.label for turn in turns[:2]] == [("main", "T, T"), ("main", "T, A")]
    assert turns[0].value("row[cyc + les] / cpi_main[group, node, cycles]").mid == 1
    others = list(loop("rows of cpi_main where group is not T", reader))
    assert len(turns) / 2 + len(others) == len(reader("cpi_main").keys())
    reader = Reader("xmp1982")
    assert 0 < len(list(loop("rows of fig4_1 and fig5_1", reader))) < len(reader("fig4_1").keys())
    with pytest.raises(ValueError, match="'for ever' is no loop"):
        list(loop("for ever", reader))


def made(document, *lines, functions=None):
    """The claims of rows that give only what matters, by name; all rows of one name are one entry."""
    empty = dict.fromkeys(register.COLUMNS, "") | {"place": "claims.csv, line 2"}
    names = dict.fromkeys(line["claim"] for line in lines)
    entries = []
    for name in names:
        rows = [empty | one for one in lines if one["claim"] == name]
        entries.append(
            Entry(document, name, [rows[0] | {"where": "here", "statement": "{item}"}, *rows[1:]], functions)
        )
    found = [claim for entry in entries for claim in entry.claims(Reader(document))]
    return {claim.id.removeprefix(f"{document}."): claim for claim in found}


def test_a_claim_is_what_its_rows_say():
    parts = {"claim": "parts", "for": "rows of fig5_4", "printed": "{total}", "formula": "net_forecast + write_sum"}
    assert len(made("xmp1982", parts)) == len(Reader("xmp1982")("fig5_4").keys()) - 7, "no number, no claim"
    chips = {"claim": "chips", "printed": "{prose.chips} chips", "formula": "python", "reason": "Counted."}
    two = {"claim": "two", "item": "*", "formula": "python", "instead": "identity"}
    more = [
        {"claim": "two", "item": "a | b", "reason": "Both."},
        {"claim": "none", "printed": "a few", "reason": "None."},
    ]
    functions = SimpleNamespace(chips=lambda t: 9, two=lambda t: (("a", "1", 1), ("b", "2", 3)))
    found = made("p5plus", chips, two, *more, functions=functions)
    assert {name: (claim.verdict, claim.reason) for name, claim in found.items()} == {
        "chips": ("contradicts", "Counted."),
        "two[a]": ("identity", "Both."),
        "two[b]": ("contradicts", "Both."),
        "none": ("not checkable", "None."),
    }
    row = {"printed": "{prose.point_bytes} bytes", "bound": "<"}
    below = row | {"claim": "below", "formula": "prose.components"}
    found = made("nht1", below, row | {"claim": "above", "formula": "prose.group_nodes"})
    assert (found["below"].printed, found["below"].bound, found["below"].verdict) == (
        "40 bytes",
        "< 40 bytes",
        "our bound",
    )
    assert found["above"].verdict == "contradicts" and found["below"].place.cell[::2] == ("prose", "value")


def test_contradictions_are_recomputed_by_hand():
    """Those of chapters 1 and 2 are in their folders."""
    found = {claim.id.removeprefix("p5plus."): claim for claim in claims.check("p5plus")}
    assert {name for name, claim in found.items() if claim.verdict == "contradicts"} == set(CONTRADICTS)
    for name, (printed, value) in CONTRADICTS.items():
        assert found[name].printed == printed and found[name].recomputed == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize("document", claims.documents())
def test_names_and_verdicts_are_those_held_here(document):
    text = "".join(f"{claim.id} {claim.verdict}\n" for claim in claims.check(document))
    assert (text.count("\n"), hashlib.sha256(text.encode()).hexdigest()[:12]) == VERDICTS[document]


def test_recomputed_values_are_those_held_here():
    text = "".join(f"{claim.recomputed:.6f}\n" for claim in claims.check())
    assert hashlib.sha256(text.encode()).hexdigest()[:12] == VALUES


@pytest.mark.parametrize("document", claims.documents())
def test_claims_are_complete_records(document):
    """A claim prints only what some cell of its document prints; what fails is explained in few sentences."""
    values = {0.0}
    for name in tables.names(document):
        half = tables.digits(document, name)
        for column, cells in tables.text(document, name).items():
            values |= {abs(float(cell)) for cell in cells[half[column].notna()]}
    found, scale = claims.check(document), {"K": 1e3, "M": 1e6}
    assert len({claim.id for claim in found}) == len(found)
    for claim in found:
        assert claim.where and claim.statement and "{" not in claim.where + claim.statement, claim.id
        if claim.verdict in ("contradicts", "not checkable"):
            sentences = re.findall(r"[.](?= [A-Z]|$)", claim.reason)
            assert 20 < len(claim.reason) < 420 and 1 <= len(sentences) <= 3 and claim.reason[-1] == ".", claim.id
        if claim.verdict != "not checkable":
            assert claim.printed and claim.interval[0] <= claim.recomputed <= claim.interval[1], claim.id
        name = claim.id.partition("[")[0]
        assert claim.printed[:1] not in ("<", ">") or not claim.printed or name in STATED_BOUNDS, claim.id
        for number, unit in re.findall(r"((?:\d[\d,]*\.?\d*|\.\d+)(?:e\d+)?)\s?([KM]\b)?", claim.printed):
            value = float(number.replace(",", "")) * scale.get(unit, 1)
            assert name in DATES or any(math.isclose(value, other, abs_tol=1e-12) for other in values), claim.id


@pytest.mark.parametrize("document", claims.documents())
def test_nearly_every_claim_leads_to_its_cell(document):
    found = claims.check(document)
    placed = [claim for claim in found if claim.place.cell]
    for claim in placed:
        table, row, column = claim.place.cell
        assert tables.text(document, table)[column].iloc[row] in claim.printed
    assert len(placed) >= 0.9 * len(found) and len(set(claims.addresses(document).values())) == len(found)


def test_ledger_and_table_lead_to_each_other():
    known = {claim: address for name in claims.documents() for claim, address in claims.addresses(name).items()}
    shown = {name: figures.document_table("xc30", name).html for name in tables.names("xc30")}
    for claim in claims.check("xc30"):
        if claim.place.cell:
            target = ledger.source(claim).partition("#")[2]
            cell = re.search(rf'<td [^>]*id="{target}" data-claim="([^"]+)"', shown[claim.place.cell[0]])
            assert cell and cell.group(1) in known.values()
    assert re.findall(r'<tr id="(claim-[^"]+)"', ledger.full_table().html) == list(known.values())


@pytest.mark.parametrize(
    ("rows", "reason"),
    [
        ("one,here,Said,,,{prose.chips} chips,,9,,", "line 2: 11 cells belong here; one with a comma"),
        ("one,,here,Said,,{prose.chip} chips,,9,,,", "line 2, claim one: .*no row .'chip',"),
        ("one,,here,Said,rows of blades,{cpu},,cpus,,,", "line 2, claim one: {cpu} is no cell"),
        ("one,,here,Said,rows of blades,{cpus},,cpu,,,", "line 2, claim one: formula 'cpu'.*columns of its row are"),
        ("one,,here,Said,rows of blade,{cpus},,cpus,,,", "line 2, claim one: table 'blade' of p5plus is unknown"),
        ("one,,here,Said,rows of blades where cpus is 33,{cpus},,cpus,,,", "line 2, claim one: no row of the tables"),
        ("one,,here,Said,rows of blades where cpu is 32,{cpus},,cpus,,,", "line 2, claim one: .*no column 'cpu'"),
        ('one,,here,Said,,8,,"sum(smt_binding[..., X, N, time])",,,', "line 2, claim one: .*no row"),
        ("one,,here,Said,,about {prose.chips} chips,,9,,,", "line 2, claim one: the printed value 'about 8 chips'"),
        ("one,,here,Said,,{prose.chips chips,,9,,,", "line 2, claim one: .*brace"),
        ("one,,here,Said,,{prose.chips},,9 +,,,", "line 2, claim one: formula '9 .'"),
        ("one,,here,Said,,{prose.chips},,python,,,", "line 2, claim one: claims.py of p5plus has no function one"),
        ("one,,here,Said,,{prose.chips},,9,same,,", "line 2, claim one: instead = 'same'; choose one of identity"),
        ("one,,here,Said,,{prose.chips},,9,,,\none,b,,,,,,,,Why.,", "line 3, claim one: it has no item 'b'"),
        ("one,,here,Said,,{prose.chips},,9,,,\none,b,,,,,,,,,", "line 3, claim one: this row has neither"),
        (
            "one,,here,Said,,{prose.chips},,9,,,\none,,,,,{prose.chips},,9,,,",
            "line 3, claim one: item '' is made twice",
        ),
        ("one,,here,Said,,{prose.chips},,9,,,\noen,,,,,,,,,Why.,", "line 3: claim 'oen' begins here, and lacks"),
        ("a,,here,Said,,8,,8,,,\nb,,here,Said,,8,,8,,,\na,c,here,Said,,8,,8,,,", "line 4: claim 'a' stands above"),
    ],
)
def test_a_row_of_a_register_is_answered_or_refused_with_its_line(tmp_path, monkeypatch, rows, reason):
    path = tmp_path / "p5plus" / "claims.csv"
    path.parent.mkdir()
    path.write_text(",".join(register.COLUMNS) + "\n" + rows + "\n")
    monkeypatch.setattr(register.chapters, "files", lambda name: {"p5plus": path} if name == "claims.csv" else {})
    with pytest.raises(ValueError, match=f"p5plus/claims.csv, {reason}"):
        [claim for entry in register.ledger.__wrapped__("p5plus") for claim in entry.claims(Reader("p5plus"))]


def test_a_misspelt_head_is_said(tmp_path):
    (tmp_path / "claims.csv").write_text(",".join(register.COLUMNS).replace("printed", "printd") + "\n")
    with pytest.raises(ValueError, match="claims.csv, line 1: its columns are claim, item, where"):
        list(register.chapters.rows(tmp_path / "claims.csv", register.COLUMNS))
