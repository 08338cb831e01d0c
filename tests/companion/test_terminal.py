"""No control character reaches the terminal raw: from arguments, labels, names of files, or files of others."""

import ast
import io
import json
import sys
from pathlib import Path

import forked
import pytest
from cases import tried

from companion import terminal
from companion.records import runs

ROOT = Path(__file__).resolve().parents[2]
#: What a terminal would act on: clear, title, colours, bells, line ends, turned writing, and a byte that is no text.
HOSTILE = (
    *("\x1b[2J", "\x1b]0;title\x07", "\x1b[31m", "\x9b2J", "\r", "\b\b\b", "\x07", "\x7f", "\x85", "\x0b", "\x0c"),
    *("\u2028", "\u202e", "\u2066", "\u200f", "\x00", "\x90q\x9c", "\n", "\t", "\x0e", "\udcff"),
)


def raw(text: str) -> list[str]:
    """Characters in what was printed that a terminal would act on; our own line ends are none."""
    return [each for each in text if terminal.HIDDEN.match(each) and each != "\n"]


def test_every_control_character_is_written_out(monkeypatch):
    for number in [*range(0x20), *range(0x7F, 0xA0), 0x2028, 0x2029, *range(0x202A, 0x202F), 0xD800, 0xDCFF, 0xDFFF]:
        stream = io.TextIOWrapper(io.BytesIO(), "utf-8")
        monkeypatch.setattr(sys, "stdout", stream)
        terminal.say(f"a{chr(number)}b", "c")
        said = stream.buffer.getvalue().decode()
        monkeypatch.undo()
        assert not raw(said) and said.count("\n") == 2 and said.startswith("a\\") and said.endswith("b\nc\n"), number
        tried()


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp437", "utf-8"])
def test_what_the_terminal_cannot_show_is_written_out(monkeypatch, encoding):
    stream = io.TextIOWrapper(io.BytesIO(), encoding)
    monkeypatch.setattr(sys, "stdout", stream)
    terminal.say("5 µs … ü 漢 ζ")
    said = stream.buffer.getvalue().decode(encoding)
    monkeypatch.undo()
    assert said == ("5 µs … ü 漢 ζ\n" if encoding == "utf-8" else said) and said.endswith("\n") and "5 " in said


def test_one_function_prints():
    """Nothing else in companion/ and peers/ writes to the standard streams, but for what this names."""
    allowed = {
        "companion/terminal.py": 1,
        "companion/__main__.py": 1,  # a constant sentence, where nothing may be imported any more
        "peers/_ranks.py": 1,  # answers to the program that started it
    }
    found = {}
    writers = ("print", "typer.echo", "click.echo", "sys.stdout.write", "sys.stderr.write")
    for path in [*(ROOT / "companion").rglob("*.py"), *(ROOT / "peers").rglob("*.py")]:
        text = path.read_text(encoding="utf-8")
        for node in ast.walk(ast.parse(text)) if any(f"{name}(" in text for name in writers) else ():
            if isinstance(node, ast.Call) and ast.unparse(node.func) in writers:
                found[path.relative_to(ROOT).as_posix()] = found.get(path.relative_to(ROOT).as_posix(), 0) + 1
    assert found == allowed


def printed(*commands, cwd) -> list[str]:
    """What commands print on both streams."""
    found = [done.stdout + done.stderr for done in forked.run(*commands, cwd=cwd)]
    for said in found:
        assert "Traceback" not in said, said[-2000:]
        assert said.strip()
    return found


ARGUMENTS = (
    lambda text: ("companion", "run", f"a{text}b"),
    lambda text: ("companion", "run", "p5plus-latency", "--preset", text),
    lambda text: ("companion", "run", "p5plus-latency", "--threads", text),
    lambda text: ("companion", "show", f"{text}.json"),
    lambda text: ("companion", f"{text}"),
    lambda text: ("companion", "export", "x.json", "--to", f"x{text}.xlsx"),
    lambda text: ("companion.claims", "list", text),
    lambda text: ("companion.notebooks", "check", f"{text}.ipynb"),
    lambda text: ("companion.notebooks", text),
    lambda text: ("peers", text),
)


#: What no argument can hold left out; what ends a line, or is no text, stands alone, and the rest in one argument.
ALONE = ("\n", "\udcff")
TOGETHER = [text for text in HOSTILE if text not in ("\0", *ALONE)]


def test_arguments(tmp_path):
    commands = [of("a".join(texts)) for of in ARGUMENTS for texts in (TOGETHER, *ALONE)]
    for command, said in zip(commands, printed(*commands, cwd=tmp_path), strict=True):
        assert not raw(said), (command, said)
    tried(len(ARGUMENTS) * (len(TOGETHER) + len(ALONE)))


def test_names_of_files_and_what_foreign_files_say(record, tmp_path):
    name = "".join(text for text in HOSTILE if text not in ("\0", "\udcff"))
    (tmp_path / f"{name}.json").write_text(json.dumps(record))
    (tmp_path / "solution\x1b[2J").write_bytes(b"\x1b[2J" * 2000)
    commands = [
        ("companion", "export", f"{name}.json", "--to", f"{name}.csv"),
        ("companion", "compare", f"{name}.json", f"{name}.json"),
        ("companion", "show", f"{name}.json", "--no-draw"),
        ("companion", "verify", "solution\x1b[2J"),
        ("companion", "reframe", "--report", f"{name}.json"),
    ]
    for command, said in zip(commands, printed(*commands, cwd=tmp_path), strict=True):
        assert not raw(said), (command, said)
        tried()
    assert (tmp_path / f"{name}.csv").exists()


@pytest.mark.parametrize("place", ["title", "label", "experiment", "flags", "machine", "units", "name"])
def test_texts_of_a_foreign_record(record, tmp_path, place):
    """A record with a control character anywhere is refused, in a sentence that has none."""
    for text in HOSTILE:
        case = record["measurements"][0]
        changed = {
            "title": {"title": text},
            "label": {"measurements": [{**case, "label": text}]},
            "experiment": {"experiment": f"toy{text}"},
            "flags": {"measurements": [{**case, "flags": {"load": text}}]},
            "machine": {"machine": {**record["machine"], "cpu": {**record["machine"]["cpu"], "model": text}}},
            "units": {"outputs": {"x": {"value": 1, "units": text}}},
            "name": {"outputs": {f"x{text}": {"value": 1, "units": "1"}}},
        }[place]
        (tmp_path / "x.json").write_text(json.dumps({**record, **changed}))
        with pytest.raises(runs.RunRecordError) as caught:
            runs.read(tmp_path / "x.json")
        assert "\n" not in str(caught.value) and not raw(terminal.plain(str(caught.value)))
        tried()


def test_what_is_measured_is_written_without_control_characters(record, tmp_path):
    record["title"], record["machine"]["cpu"]["model"] = "a\x1b[2Jb\nc", "CPU\x00\t"
    found = runs.read(runs.save(record, tmp_path))
    assert found["title"] == "a [2Jb c" and found["machine"]["cpu"]["model"] == "CPU  "


def test_a_table_fits_its_terminal_and_hides_nothing(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "40")
    rows = [("a\x1b[2Jb" + 30 * "c", "1.5", "[red]not markup[/red]"), ("d", "22.5", "")]
    terminal.say_table(("case", "s", "doubtful"), rows, ("s",))
    said = capsys.readouterr().out
    assert not raw(said) and max(map(len, said.splitlines())) <= 40
    joined = "".join(said.split())
    assert "a\\x1b" in joined and "[red]not" in joined and "22.5" in joined
