"""Numbers on every command line and in the environment are read strictly, before anything starts."""

import pytest
from cases import tried
from typer.main import get_command
from typer.testing import CliRunner

from companion import cli, notebooks, numbers
from peers import __main__ as peers
from peers.kit import vectors

PROGRAMS = {"companion": cli, "peers": peers, "notebooks": notebooks}
#: Texts that Python takes for whole numbers or for numbers, or that people write for them; none is one here.
NEITHER = (
    *(
        "",
        " ",
        "1_000",
        "1_0.5",
        " 1",
        "1 ",
        "\t1",
        "1\n",
        "\u0663",
        "\uff11",
        "1\u00a0",
        "\u00b2",
        "\u2160",
        "\u2212" + "1",
    ),
    *("0x10", "0b1", "1e", "e5", "--1", "+-1", "1+", "one", "nan", "NaN", "inf", "-inf", "infinity", "1,5", "1.2.3"),
    *("1;2", "1 2", "True", "None", "\x1b[1m1", "9" * 400, "1e999", "-1e999"),
)
NO_WHOLE = (*NEITHER, "1.0", "1.", ".5", "1e3", "1e0")
WHOLE = {"0": 0, "7": 7, "+7": 7, "-7": -7, "007": 7, "9" * 20: 10**20 - 1}
NUMBERS = {**WHOLE, "0.5": 0.5, ".5": 0.5, "5.": 5.0, "1e3": 1000.0, "-1E-3": -0.001, "+2.5e+01": 25.0}


def options():
    """Every option of every command that takes a number: program, command, option, kind."""
    found = []
    for name, program in PROGRAMS.items():
        group = get_command(program.app)
        for command in getattr(group, "commands", {"": group}).values():
            for parameter in command.params:
                if parameter.metavar in ("<int>", "<float>"):
                    found.append((name, command.name, parameter.opts[0], parameter.metavar))
    return found


def test_every_number_of_a_command_line_is_read_here():
    """An option that the library would read itself has no such word in its place."""
    assert len(options()) >= 12
    for program in PROGRAMS.values():
        for info in program.app.registered_commands:
            for name, kind in info.callback.__annotations__.items():
                if kind in (int, float, int | None, float | None):
                    raise AssertionError(f"{info.callback.__name__}: {name} is read by the library")


@pytest.mark.parametrize(("program", "command", "option", "kind"), options())
def test_no_option_takes_another_spelling(program, command, option, kind):
    app = PROGRAMS[program].app
    several = len(app.registered_commands) > 1
    for text in NO_WHOLE if kind == "<int>" else NEITHER:
        asked = [*([command] if several else []), f"{option}={text}"]
        result = CliRunner().invoke(app, asked)
        assert result.exit_code == 2, (asked, result.output)
        (line,) = result.stderr.strip().splitlines()
        assert option in line and "must be a" in line and "\x1b" not in line, line
        tried()


@pytest.mark.parametrize(("text", "value"), NUMBERS.items())
def test_numbers_are_taken(text, value):
    assert numbers.number(text) == pytest.approx(value)
    if text in WHOLE:
        assert numbers.integer(text) == value


@pytest.mark.parametrize("text", [*filter(None, NEITHER), "-1", "31557601"])
def test_the_environment_is_read_alike(text, monkeypatch, toy_experiment):
    monkeypatch.setenv("RERUN_BUDGET", text)
    with pytest.raises(ValueError, match=r"RERUN_BUDGET in the environment"):
        toy_experiment.seconds("quick")
    monkeypatch.setenv("RERUN_PEER_VECTORS", text)
    if text in NEITHER:
        with pytest.raises(ValueError, match=r"RERUN_PEER_VECTORS in the environment"):
            vectors.bits()


def test_the_program_says_so_in_one_sentence(tmp_path, monkeypatch, toy_experiment):
    monkeypatch.setenv("RERUN_BUDGET", "1_0")
    done = CliRunner().invoke(cli.app, ["run", "toy-sum", "--out", str(tmp_path / "records")])
    assert done.exit_code == 2 and list(tmp_path.iterdir()) == []
    assert done.stderr.startswith("companion: '1_0' must be a number") and len(done.stderr.splitlines()) == 1
