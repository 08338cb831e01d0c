"""Every reader of a file that others may have written, given what is no file of its kind: refused at once, by name.

Each reader gets FIFOs, sockets, devices, folders, files of holes, files without end and files that nest or repeat; each
command of the command line that takes a file gets those that could be waited for.  A refusal has the bounds of
``bounds``: 200 MB and one second of processor time.
"""

import json
import os
import socket
import stat
import sys
from functools import partial
from pathlib import Path

import bounds
import forked
import pytest
from cases import tried
from synthetic import changed

from companion import notebooks, tables
from companion.files import sentence
from companion.mpi import reframe
from companion.records import peer_records, runs, store
from companion.tables import csv
from kernels.files.format.opening import open_solution
from kernels.imaging import fits

ROOT = Path(__file__).resolve().parent.parent
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="limits and /proc of Linux")
RESOURCE = {"rows": 1, "schema": {"fields": [{"name": "a", "type": "string"}], "primaryKey": ["a"]}}


def notebook(path):
    """``problems`` says what is wrong instead of raising it."""
    raise ValueError(notebooks.problems(path)[0])


READERS = {
    "run record": runs.load,
    "peer record": peer_records.load,
    "report of ReFrame": reframe.digest,
    "table": lambda path: csv.read(path, RESOURCE),
    "descriptor": csv.descriptor,
    "notebook": notebook,
    "FITS image": fits.read_image,
    "FITS visibilities": fits.read_visibilities,
    "solution": open_solution,
}


def in_one_sentence(reader, path):
    """The reader's refusal, as the command line says it."""
    try:
        return reader(path)
    except OSError as error:
        raise ValueError(sentence(error)) from None


def said_of(name, *paths) -> list[str]:
    """What a reader says of files that it must refuse."""
    texts = []
    for path, said in zip(paths, bounds.refusals(partial(in_one_sentence, READERS[name]), paths), strict=True):
        kind, _, text = said.partition(": ")
        assert kind not in ("MemoryError", "RecursionError", "AttributeError", "TypeError", "KeyError"), said
        assert path.name in text and "\n" not in text and len(text) < 2000, said[:2000]
        texts.append(text)
    tried(len(texts))
    return texts


# what can be waited for, and what is no file


def made(folder: Path) -> dict[str, Path]:
    """Files of every kind but a regular one, and links to them."""
    os.mkfifo(folder / "fifo")
    (folder / "folder").mkdir()
    with socket.socket(socket.AF_UNIX) as bound:
        bound.bind(str(folder / "socket"))
    for name, target in (("link", folder / "fifo"), ("zero", "/dev/zero"), ("tty", "/dev/ptmx"), ("none", "nowhere")):
        (folder / name).symlink_to(target)
    (folder / "loop").symlink_to(folder / "loop")
    if os.geteuid() == 0:
        try:
            os.mknod(folder / "block", 0o600 | stat.S_IFBLK, os.makedev(7, 0))
        except PermissionError:  # a container may not
            pass
    return {path.name: path for path in folder.iterdir()}


@pytest.fixture
def odd(tmp_path):
    return made(tmp_path)


@pytest.mark.parametrize("name", READERS)
def test_what_is_no_regular_file_is_refused_at_once(odd, name):
    said_of(name, *odd.values())


@pytest.mark.parametrize("name", READERS)
def test_a_file_of_holes_or_without_end_is_refused(tmp_path, name):
    for number, start in enumerate((b"", b"{", b"a\n", b"SIMPLE  =                    T")):
        (tmp_path / f"sparse{number}").write_bytes(start)
        os.truncate(tmp_path / f"sparse{number}", 3 * 10**9)
    for endless in ("/proc/self/maps", "/proc/kallsyms"):  # no size is known of them before they are read
        (tmp_path / Path(endless).name).symlink_to(endless)
    said_of(name, *tmp_path.iterdir())


COMMANDS = (
    ("companion", "show", "FILE"),
    ("companion", "compare", "FILE", "FILE"),
    ("companion", "export", "FILE", "--to", "x.csv"),
    ("companion", "reframe", "--report", "FILE", "--out", "."),
    ("companion", "verify", "FILE"),
    ("companion.notebooks", "check", "FILE"),
    ("companion.notebooks", "normalise", "--keep-outputs", "FILE"),
)


@pytest.mark.parametrize("command", COMMANDS, ids=lambda command: " ".join(command[:2]))
def test_every_command_that_takes_a_file_refuses_what_is_none(odd, command):
    names = ("fifo", "socket", "zero", "tty", "folder", "loop")
    commands = [[str(odd[name]) if word == "FILE" else word for word in command] for name in names]
    for name, done in zip(names, forked.run(*commands, cwd=odd["folder"]), strict=True):
        (line,) = done.stderr.strip().splitlines()
        assert done.returncode in (1, 2) and name in line and "Traceback" not in line, done.stderr
        assert done.stdout == "" and os.listdir(odd["folder"]) == []
        tried()


# JSON that repeats, nests or is too much


def many(count, form="{}"):
    return ",".join(form.format(number) for number in range(count))


def whole(kind: str) -> dict:
    """A committed record, as JSON gives it: the smallest that has cases."""
    paths = sorted((ROOT / "data" / kind).glob("*.json"), key=lambda path: path.stat().st_size)
    found = (json.loads(path.read_text(encoding="utf-8")) for path in paths)
    return next(record for record in found if record["measurements"])


def texts() -> dict[str, str]:
    """JSON documents that no reader takes, each with what it would cost."""
    record, case = whole("runs"), whole("runs")["measurements"][0]
    found = {
        "30 000 names, the last twice": "{" + many(30_000, '"k{}":1') + ',"k29999":2}',
        "900 names, the last twice": "{" + many(900, '"k{}":1') + ',"k899":2}',
        "400 000 names": "{" + many(400_000, '"k{}":1') + "}",
        "objects of 1000 names": "[" + ",".join(["{" + many(1000, '"{}":1') + "}"] * 90) + "]",
        "a million numbers": "[" + many(10**6) + "]",
        "empty lists": "[" + ",".join(["[]"] * 95_000) + "]",
        "nested lists": "[" * 10**5 + "]" * 10**5,
        "lists as deep as they are read": "[" * 900 + "]" * 900,
        "nested objects": '{"a":' * 10**5 + "1" + "}" * 10**5,
        "a long number": "1" * 3 * 10**6,
        "a long text": '"' + "x" * 3 * 10**6 + '"',
        "a text without end": '"' + "\\" * 10**6,
    }
    for word in ("measurements", "machine", "outputs", "title", "session_info", "runs", "resources", "cells"):
        for value in ("[" + ",".join(["{}"] * 95_000) + "]", "[" * 900 + "]" * 900, "{" + many(999, '"k{}":[]') + "}"):
            found[f"{word} = {value[:20]}"] = json.dumps({**record, word: "HERE"}).replace('"HERE"', value)
    for value in ("[" + many(95_000, "1.5") + ',"x"]', "[" + ",".join(["null"] * 95_000) + "]"):
        text = json.dumps({**record, "measurements": [{**case, "samples": "HERE"}]})
        found[f"samples = {value[:20]}"] = text.replace('"HERE"', value)
    return found


JSON_READERS = ("run record", "peer record", "report of ReFrame", "descriptor", "notebook")


@pytest.fixture(scope="module")
def costly(tmp_path_factory):
    folder = tmp_path_factory.mktemp("costly")
    for number, text in enumerate(texts().values()):
        (folder / f"{number}.json").write_text(text)
    return list(folder.iterdir())


@pytest.mark.parametrize("name", JSON_READERS)
def test_json_that_costs_much_is_refused_within_the_bounds(costly, name):
    assert all(said_of(name, *costly))


def test_a_record_that_would_make_a_large_table_is_refused_within_the_bounds(tmp_path):
    """600 cases, of which one has 50 000 samples, or each another parameter: gigabytes as a table."""
    record = whole("runs")
    case = {**record["measurements"][0], "parameters": {}, "observed": {}}
    small = {**case, "samples": case["samples"][:1], "checks_before": case["checks_before"][:1]}
    small["checks_after"] = small["checks_before"]
    long = {**small, "label": "long", "samples": [1.0] * 50_000}
    cases = [{**small, "label": str(number)} for number in range(600)]
    for number, measurements in enumerate((
        [*cases, long],
        [{**one, "observed": {f"o{number % 900}": [1.0] * 20}} for number, one in enumerate(cases)],
        [{**one, "parameters": {f"{c}{number}": 1 for c in "abcdefghijklmno"}} for number, one in enumerate(cases)],
    )):  # fmt: skip
        (tmp_path / f"{number}.json").write_text(json.dumps({**record, "measurements": measurements}))
    assert all("makes a table of" in said for said in said_of("run record", *tmp_path.iterdir()))


def test_records_have_room_below_the_bounds():
    for path in [*(ROOT / "data" / "runs").glob("*.json"), *(ROOT / "data" / "peers").glob("*.json")]:
        text = path.read_text(encoding="utf-8")
        assert len(text) < store.MAX_BYTES / 4 and text.count(",") < store.MAX_VALUES / 2.5, path.name


# records and tables that contradict themselves


def test_a_record_whose_cases_or_parameters_cannot_be_told_apart_is_refused(tmp_path):
    record = whole("runs")
    first, *others = record["measurements"]
    changes = [[first, first, *others]]
    for word in ("parameters", "observed"):
        for name in ("", " ", "a/b", "é", "a\n", "\u202ea", "0", "-", "a" * 10 + "\x1b[2J"):
            value = 1 if word == "parameters" else [1.0]
            changes.append([{**first, word: {name: value}}, *others])
    for number, measurements in enumerate(changes):
        (tmp_path / f"{number}.json").write_text(json.dumps({**record, "measurements": measurements}))
    said_of("run record", *tmp_path.iterdir())


@pytest.mark.parametrize(
    ("views", "words"),
    [
        ([("v", ["v"])], "is no table"),
        ([("v", ["w"]), ("w", ["v"])], "is no table"),
        ([("v", ["toy", "w"]), ("w", ["toy", "v"])], "is no table"),
        ([("toy", ["toy"])], ""),
        ([("v", ["absent"])], "'absent' is no table"),
        ([("v", ["toy"] * 3)], ""),
    ],
)
def test_views_that_name_views_are_refused(tmp_path, monkeypatch, views, words):
    field = {"name": "a", "type": "string", "description": "a"}
    table = {"name": "toy", "title": "Toy", "item": "T1", "schema": {"primaryKey": ["a"], "fields": [field]}}
    listed = [{"name": name, "title": name, "tables": inner, "dim": "d", "labels": ["x"]} for name, inner in views]
    description = {"document": {"citation": "A"}, "resources": [table], "views": listed}
    (tmp_path / "doc").mkdir()
    (tmp_path / "doc" / "resources.json").write_text(json.dumps(description))
    (tmp_path / "doc" / "toy.csv").write_text("a\nx\n")
    monkeypatch.setattr(tables, "DATA", tmp_path)
    tables.forget()
    try:
        for name, _ in views:
            try:
                tables.load("doc", name)
            except tables.TableError as error:
                assert words in str(error) and "\n" not in str(error)
            else:
                assert not words
            tried()
    finally:
        tables.forget()


# reports of ReFrame

REPORT = {
    "session_info": {"version": "4.8", "time_start_unix": 1.7e9, "num_cases": 1, "num_failures": 0},
    "runs": [
        {
            "testcases": [
                {
                    "experiment": "p5plus-exchange",
                    "system": "rerun",
                    "partition": "local",
                    "num_tasks": 2,
                    "result": "pass",
                    "time_total": 1.5,
                    "perfvalues": {"fastest": [0.5, 1, 2, 3, "s"]},
                }
            ]
        }
    ],
}
NONSENSE = (
    *(None, True, -1, 10**18, 1e308, "", "x", "nan", "\x1b[2J", [], [[]], [None], {}, {"a": 1}, [[[[]]]]),
    *({"": []}, {"a": []}, {"a": [[]]}, {"a": "x"}, [{}], [{"testcases": 1}], [{"testcases": [1]}], "9" * 400),
)


def places(value, path=()):
    """Paths to every value in JSON."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inner:
        yield from places(each, (*path, key))


def test_every_value_of_a_report_may_be_nonsense(tmp_path):
    path = tmp_path / "report.json"
    path.write_text(json.dumps(REPORT))
    assert reframe.digest(path)["checks"][0]["fastest_s"] == 0.5
    for place in places(REPORT):
        for value in NONSENSE:
            path.write_text(json.dumps(changed(REPORT, place, value)))
            tried()
            try:
                found = reframe.digest(path)
            except ValueError as error:
                assert "report.json is no report of ReFrame" in str(error) and "\n" not in str(error)
            else:
                assert "\x1b" not in json.dumps(found, ensure_ascii=False) and json.dumps(found, allow_nan=False)
