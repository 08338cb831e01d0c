"""``python -m companion.claims``: the ledger on the terminal, and the survey of protected digits."""

from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from companion import claims, commands
from companion.claims import mutants
from companion.files import sentence, write_text
from companion.terminal import say


def write(frame, path: Path) -> None:
    """CSV, whole or not at all; replaces an older one."""
    write_text(path, frame.to_csv(index=False, float_format="%.4f", lineterminator="\n"), overwrite=True)


app = commands.program()

_Command = StrEnum("_Command", ["count", "list", "mutate"])


def _known(value: str | None, choices, name: str) -> str | None:
    if value is not None and value not in choices:
        raise typer.BadParameter(f"{value!r} is unknown; choose one of {', '.join(choices)}", param_hint=name)
    return value


@app.command()
def run(
    command: Annotated[_Command, typer.Argument(help="Count verdicts, list claims, or change every digit by one.")],
    document: Annotated[str | None, typer.Argument(help="All when left out.")] = None,
    verdict: Annotated[str | None, typer.Option(help="Only claims with this verdict (list).")] = None,
    out: Annotated[Path | None, typer.Option(help="Write the result as CSV to this file.")] = None,
) -> None:
    """The ledger on the terminal, and the survey of protected digits."""
    _known(document, claims.documents(), "document"), _known(verdict, claims.VERDICTS, "verdict")
    if command == "mutate":
        cells = claims.mutation(None if document is None else [document])
        result, shown = cells, mutants.shares(cells)
    else:
        ledger = claims.frame(document, verdict)
        counts = ledger.groupby(["document", "verdict"]).size().unstack(fill_value=0)
        result = ledger if command == "list" else counts.reset_index()
        shown = ledger[["id", "printed", "recomputed", "verdict"]] if command == "list" else counts
    say(*shown.to_string().split("\n"))
    if out:
        try:
            write(result, out)
        except OSError as error:
            commands.stop("claims", sentence(error))


#: The command line; the exit status is 2 if the file cannot be written.
main = partial(commands.status, app, "python -m companion.claims")


if __name__ == "__main__":
    raise SystemExit(main())
