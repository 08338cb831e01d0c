"""How the small command lines of this house start: one library, one exit status."""

import typer


def program() -> typer.Typer:
    """A command line as all of this house are made."""
    return typer.Typer(add_completion=False, pretty_exceptions_enable=False, rich_markup_mode=None)


def status(app: typer.Typer, name: str, arguments: list[str] | None = None) -> int:
    """Run ``app`` as the program ``name`` and return its exit status.

    A command ends with ``typer.Exit(status)``; an argument that it does not know is said on stderr, status 2.
    """
    try:
        app(args=arguments, prog_name=name)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    return 0
