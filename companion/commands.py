"""How the small command lines of this house start: one library, one exit status."""

import inspect
from collections.abc import Callable
from contextlib import contextmanager
from typing import Annotated, Any, NoReturn, get_args, get_type_hints

import typer
from typer.core import TyperCommand, TyperGroup
from typer.models import ParameterInfo

from companion import numbers
from companion.terminal import say

#: What the library raises for arguments that it does not understand; its module has no public name.
_UsageError: Any = typer.BadParameter.__bases__[0]


@contextmanager
def _one_sentence(name: str):
    """Say what is wrong with an argument in one line, instead of usage, hint and error."""
    try:
        yield
    except _UsageError as error:
        message = " ".join(error.format_message().split())
        if not message or type(error).__name__ == "NoArgsIsHelpError":
            raise
        command = error.ctx.command_path if error.ctx else name
        stop(name.split()[-1], f"{message.rstrip('.')}; '{command} --help' lists what there is")


class _Outermost:
    """Refusals in one sentence each, those of the library included; a command among several leaves it to them."""

    def make_context(self: Any, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        make: Any = super()
        if parent is not None:
            return make.make_context(info_name, args, parent, **extra)
        with _one_sentence(info_name or ""):
            return make.make_context(info_name, args, parent, **extra)

    def invoke(self: Any, ctx: Any) -> Any:
        run: Any = super()
        if ctx.parent is not None:
            return run.invoke(ctx)
        with _one_sentence(ctx.info_name or ""):
            return run.invoke(ctx)


class Commands(_Outermost, TyperGroup):
    """A program of several commands."""


class Command(_Outermost, TyperCommand):
    """A program of one command, or one among several."""


def _reader(read: Callable[[str], Any], least: float | None) -> Callable[[str], Any]:
    """What turns the text of an option into a number of at least ``least``."""

    def parse(text: Any) -> Any:
        try:
            value = read(text) if isinstance(text, str) else text  # a default is a number already
        except ValueError as error:
            raise typer.BadParameter(str(error)) from None
        if least is not None and value < least:
            raise typer.BadParameter(f"{text} must be at least {least:g}")
        return value

    return parse


def strict(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function`` with annotations by which the library reads its numbers as :mod:`companion.numbers` does."""
    hints = get_type_hints(function, include_extras=True)
    for name in inspect.signature(function).parameters:
        kind, *more = get_args(hints[name]) if hasattr(hints[name], "__metadata__") else (hints[name],)
        kinds = set(get_args(kind) or (kind,)) - {type(None)}
        read = next((read for one, read in _READERS.items() if kinds == {one}), None)
        if read is not None:
            info = next((one for one in more if isinstance(one, ParameterInfo)), None) or typer.Option()
            info.parser, info.metavar = _reader(read, info.min), f"<{next(iter(kinds)).__name__}>"
            function.__annotations__[name] = Annotated[kind, info]
    return function


_READERS: dict[type, Callable[[str], Any]] = {int: numbers.integer, float: numbers.number}


class _Program(typer.Typer):
    def command(self, *arguments: Any, cls: type[TyperCommand] | None = None, **options: Any) -> Any:
        register = super().command(*arguments, cls=cls or Command, **options)
        return lambda function: register(strict(function))


def program(add_completion: bool = False, **options: Any) -> typer.Typer:
    """A command line as all of this house are made; only one that is installed under a name completes its words."""
    return _Program(
        add_completion=add_completion, pretty_exceptions_enable=False, rich_markup_mode=None, cls=Commands, **options
    )


def stop(program: str, message: object, code: int = 2) -> NoReturn:
    """End with one sentence on stderr."""
    say(f"{program}: {' '.join(str(message).split())}", err=True)
    raise typer.Exit(code)


def status(app: typer.Typer, name: str, arguments: list[str] | None = None) -> int:
    """Run ``app`` as the program ``name`` and return its exit status.

    A command ends with ``typer.Exit(status)``; an argument that it does not know is said on stderr, status 2.
    """
    try:
        app(args=arguments, prog_name=name)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
