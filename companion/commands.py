"""How the small command lines of this house start: one library, one exit status."""

from contextlib import contextmanager
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

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
        typer.echo(f"{name.split()[-1]}: {message.rstrip('.')}; '{command} --help' lists what there is", err=True)
        raise typer.Exit(2) from None


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


class _Program(typer.Typer):
    def command(self, *arguments: Any, cls: type[TyperCommand] | None = None, **options: Any) -> Any:
        return super().command(*arguments, cls=cls or Command, **options)


def program() -> typer.Typer:
    """A command line as all of this house are made."""
    return _Program(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None, cls=Commands)


def status(app: typer.Typer, name: str, arguments: list[str] | None = None) -> int:
    """Run ``app`` as the program ``name`` and return its exit status.

    A command ends with ``typer.Exit(status)``; an argument that it does not know is said on stderr, status 2.
    """
    try:
        app(args=arguments, prog_name=name)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
