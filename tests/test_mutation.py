"""The tool that changes kernels changes one place, inside functions, and draws by its seed alone."""

import ast
import itertools
import re

import mutants
import mutation
import mutation_runner
from tools import FAULTS, keep_rows, read_rows

SOURCE = '''"""A docstring with 12."""
LIMIT = 3


class Pair(NamedTuple):
    low: int
    high: int


def work(n):
    return 5 * n


@kernel(fastmath=CONTRACT)
def double(x, n, k, pair):
    """Doubles 2 of them."""
    if n < 1 and k > n:
        raise ValueError("n = 7")
    for i in range(n):
        x[i + k] = -x[i] * 2.5e-3
    fence()
    store(x, pair.low)
    return x
'''


def found():
    return mutants.Sites("kernels/toy/a.py", SOURCE, mutants.named_tuples({"a": SOURCE})).found


def test_every_kind_is_found_where_a_result_depends_on_it():
    changes = {(m.kind, m.line, m.new) for m in found()}
    assert ("bound", 17, "<=") in changes and ("bound", 19, "(n - 1)") in changes
    assert ("index", 20, "i + k + 1") in changes and ("index", 20, "i + 1") in changes
    assert ("last", 20, "i + k if i + 1 < n else i + k - 1") in changes
    assert ("sign", 20, "-") in changes and ("sign", 20, "+") in changes and ("sign", 20, "/") in changes
    assert ("constant", 20, "3.5e-3") in changes and ("constant", 20, "2.6e-3") in changes
    assert ("barrier", 21, "pass") in changes and ("call", 22, "pass") in changes
    assert ("swap", 22, "pair.low, x") in changes and ("field", 22, "high") in changes
    assert ("logic", 17, "or") in changes and ("logic", 17, "not (n < 1 and k > n)") in changes
    assert {m.line for m in found()} <= {17, 19, 20, 21, 22}


def test_code_that_is_not_compiled_is_changed_where_that_is_asked():
    assert {m.line for m in mutants.Sites("companion/toy.py", SOURCE, everywhere=True).found} > {11, 19}


def test_every_mutant_is_another_program_that_can_be_parsed():
    source = SOURCE.encode()
    for m in found():
        text = (source[: m.start] + m.new.encode() + source[m.end :]).decode()
        assert text != SOURCE and m.old == source[m.start : m.end].decode()
        ast.parse(text)
    bases = "def modes():\n    return 0o755, 0x1F, 0b11\n"
    assert mutants.Sites("companion/toy.py", bases, everywhere=True).found == []


def test_the_same_seed_draws_the_same_mutants_of_the_tree():
    tree = mutation.sites(mutation.ROOT, ["kernels/spectral"])
    first, again, other = (mutation.draw(tree, 40, seed) for seed in (1, 1, 2))
    assert first == again != other and len(set(first)) == 40
    kinds = {"sign", "constant", "bound", "index", "call", "last", "barrier", "swap", "field", "logic"}
    assert {m.kind for m in first} == kinds
    assert all(m.path.startswith("kernels/spectral/") for m in first)


def test_every_room_that_is_changed_exists():
    rooms = [mutation.ROOT / room for room in itertools.chain.from_iterable(mutation.ROOMS.values())]
    assert [room for room in rooms if not (any(room.rglob("*.py")) or room.with_suffix(".py").is_file())] == []


def test_the_tests_of_every_kernel_exist():
    """pytest finds no test of a name that is gone, so that nothing would be run."""
    for file, _, name in (test.partition("::") for test in mutation_runner.CONTRACTS):
        assert f"def {name}(" in (mutation.ROOT / file).read_text(encoding="utf-8")


def test_a_share_has_the_interval_of_wilson():
    """Worked by hand: (p + z²/2n ± z·√(p(1 − p)/n + z²/4n²)) / (1 + z²/n)."""
    assert mutation.interval(9, 10) == "90 (60 … 98)"
    assert mutation.interval(10, 10) == "100 (72 … 100)"


def rows(name):
    return read_rows(FAULTS / name)


def test_the_page_s_table_is_that_of_the_mutants_that_were_run():
    mutants, same = rows("mutants.csv"), mutation.equivalent(FAULTS / "mutants.csv")
    found = [{name: str(value) for name, value in line.items()} for line in mutation.summary(mutants, same)]
    assert found == rows("mutants_summary.csv")
    assert len({(row["sample"], *(row[name] for name in mutation.PLACE)) for row in mutants}) == len(mutants) > 0


def test_every_mutant_that_the_tests_let_pass_has_its_reason():
    names = mutation.PLACE
    survived = {tuple(row[name] for name in names) for row in rows("mutants.csv") if row["tests"] == "False"}
    explained = {tuple(row[name] for name in names): row["reason"] for row in rows("survivors.csv")}
    assert explained.keys() == survived and all(explained.values())
    for file, name in re.findall(r"(tests/\S+\.py)::(\w+)", " ".join(explained.values())):
        assert f"def {name}(" in (mutation.ROOT / file).read_text(encoding="utf-8")


def test_rows_of_another_host_stay_in_a_table(tmp_path):
    path = tmp_path / "table.csv"
    for host, short in (("A", 1), ("B", 0), ("A", 0)):
        keep_rows(path, [{"command": "x, y", "host": host, "fell short": short}], ("command", "host"))
    assert [(row["host"], row["fell short"]) for row in read_rows(path)] == [("B", "0"), ("A", "0")]


def test_a_row_finds_its_mutant_again_where_lines_have_moved():
    rows = [{"path": m.path, "line": str(m.line + 3), "kind": m.kind, "old": m.old, "new": m.new} for m in found()]
    rows.append({**rows[0], "old": "nothing like it"})
    here = mutation.found_again(rows, {"any": found()})
    assert sorted(map(mutation.known, here)) == sorted(map(mutation.known, found()))
    assert [int(row["line"]) for row in rows[:-1]] == [m.line for m in found()]
