"""The language in which registers of claims are written, and the digest of all verdicts."""

import hashlib
from types import SimpleNamespace

import pytest

from companion import chapters, claims
from companion.claims import engine, formulas, register
from companion.claims.formulas import formula, loop, sentence
from companion.claims.intervals import Interval
from companion.claims.sheets import Reader, Sheet

#: Claims of each document, and a digest of their names and verdicts in order: none comes, goes or changes unnoticed.
VERDICTS = {
    "aips58": (501, "c2cdf9ca7951"),
    "nht1": (62, "5dcfdc57a870"),
    "p5plus": (262, "385009705abf"),
    "xc30": (50, "6382b41bb7f0"),
    "xmp1982": (377, "919a36b09211"),
}


def scope(document, text=""):
    (found,) = loop(text, Reader(document))
    return found


@pytest.mark.parametrize(
    "text, expected",
    [
        ("2 + 3 * 4 - 6 / 3", 12),
        ("(2 + 3) * 4", 20),
        ("1e3 / 0.5", 2000),
        ("prose.chips", Interval(8, 8, 8)),
        ("prose[chips] * 2", Interval(16, 16, 16)),
        ("ifs_times['4D-Var', wall]", Interval(3121, 3120.5, 3121.5)),
        ("exact(ifs_times['4D-Var', wall])", Interval(3121, 3121, 3121)),
        ("about(prose.chips, 2)", Interval(8, 6, 10)),
        ("floor(7 / 2)", Interval(3, 3, 3)),
        ("blades[32, cpus]", Interval(32, 32, 32)),
        ("smt_binding[N, N, 'Y', time]", Interval(195, 194.5, 195.5)),
        ("sum(prose.chips, 2, blades[..., cpus])", Interval(90, 90, 90)),
        ("max(smt_binding[..., N, N, time])", Interval(202, 201.5, 202.5)),
        ("nearest(190, smt_binding[..., N, N, time])", Interval(202, 201.5, 202.5)),
        ("median(exact(blades[32, cpus]), blades[..., cpus])", Interval(32, 32, 32)),
        ("max(blades[..., cpus] / blades[..., cpus])", Interval(1, 1, 1)),
    ],
)
def test_a_formula_computes_with_printed_cells(text, expected):
    assert formula(text)(scope("p5plus")) == expected


@pytest.mark.parametrize(
    "text",
    [
        "__import__('os')",
        "open('x')",
        "prose.chips.mid",
        "prose.chips()",
        "sum()",
        "sum(*blades)",
        "max(1, key=2)",
        "2 ** 3",
        "7 // 2",
        "-1",
        "True",
        "'text'",
        "[1, 2]",
        "lambda: 1",
        "[x for x in blades]",
        "1 if 2 else 3",
        "1 < 2",
        "(x := 1)",
        "blades[1:2]",
        "blades[1.5, cpus]",
        "blades[a - b]",
        "blades[f(x), cpus]",
        "prose.chips; 1",
        "1 +",
        "",
    ],
)
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(ValueError, match="is none of cells, numbers|is no formula"):
        formula(text)


def test_loops_bind_words_and_rows():
    turns = list(loop("routine in main, laitli; rows of cpi_{routine} where group is T", Reader("p5plus")))
    assert [turn.label for turn in turns[:2]] == [("main", "T, T"), ("main", "T, A")]
    assert {turn.words["routine"] for turn in turns} == {"main", "laitli"} and turns[1].words["name"] == "Groups"
    assert formula("row[cyc + les] / cpi_main[group, node, cycles]")(turns[0]).mid == 1
    others = list(loop("rows of cpi_main where group is not T", Reader("p5plus")))
    assert len(turns) / 2 + len(others) == len(Sheet("p5plus", "cpi_main").keys())
    both = list(loop("rows of fig4_1 and fig5_1", Reader("xmp1982")))
    assert 0 < len(both) < len(Sheet("xmp1982", "fig4_1").keys())
    with pytest.raises(ValueError, match="'for ever' is no loop"):
        list(loop("for ever", Reader("p5plus")))


def test_a_sentence_takes_texts_as_printed():
    assert sentence("about {ifs_times['4D-Var', peak_percent]} %")(scope("p5plus")) == "about 5.68 %"
    with pytest.raises(ValueError, match="no formula"):
        sentence("{wall wall} s")


def made(document, *lines, functions=None):
    """The claims of rows that give only what matters."""
    empty = dict.fromkeys(register.COLUMNS, "") | {"where": "here", "statement": "{item}"}
    return engine.check(register.build(document, [empty | line for line in lines], functions))


CHIPS = {"claim": "chips", "printed": "{prose.chips} chips", "formula": "prose.chips"}


def test_items_reasons_and_functions_of_a_claim():
    lines = [
        CHIPS | {"formula": "python", "reason": "Counted."},
        {"claim": "two", "item": "*", "formula": "python", "instead": "identity"},
        {"claim": "two", "item": "a | b", "reason": "Both."},
        {"claim": "none", "printed": "a few", "reason": "No number."},
    ]
    functions = SimpleNamespace(chips=lambda t: 9, two=lambda t: (("a", "1", 1), ("b", "2", 3)))
    found = made("p5plus", *lines, functions=functions)
    assert [(claim.id, claim.verdict, claim.reason) for claim in found] == [
        ("p5plus.chips", "contradicts", "Counted."),
        ("p5plus.two[a]", "identity", "Both."),
        ("p5plus.two[b]", "contradicts", "Both."),
        ("p5plus.none", "not checkable", "No number."),
    ]


def test_an_empty_cell_outside_a_loop_over_rows_is_an_error():
    lines = {"claim": "gain", "printed": "{prose.chips}", "formula": "changes['medium pages', gain_high]"}
    with pytest.raises(LookupError, match="prints nothing at"):
        made("p5plus", lines)


def test_every_word_of_the_language_and_every_function_is_used():
    registers = chapters.rows("claims.csv", register.COLUMNS)
    text = " ".join(line["formula"] for rows in registers.values() for line in rows)
    assert all(f"{name}(" in text for name in formulas.FUNCTIONS)
    for document, rows in registers.items():
        named = {line["claim"] for line in rows if line["formula"] == register.PYTHON}
        assert all(callable(getattr(chapters.part(document, "claims"), name)) for name in named)


@pytest.mark.parametrize("document", claims.documents())
def test_names_and_verdicts_are_those_held_here(document):
    text = "".join(f"{claim.id} {claim.verdict}\n" for claim in claims.check(document))
    assert (text.count("\n"), hashlib.sha256(text.encode()).hexdigest()[:12]) == VERDICTS[document]
