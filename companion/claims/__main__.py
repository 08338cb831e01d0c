"""``python -m companion.claims``: the ledger on the terminal, and the survey of protected digits."""

import argparse
import sys
from pathlib import Path

from companion import claims
from companion.claims import mutants
from companion.files import sentence, write_text


def write(frame, path: Path) -> None:
    """CSV, whole or not at all; replaces an older one."""
    write_text(path, frame.to_csv(index=False, float_format="%.4f", lineterminator="\n"), overwrite=True)


def main(arguments: list[str] | None = None) -> int:
    """Command line; the exit status is 2 if the file cannot be written."""
    parser = argparse.ArgumentParser(prog="python -m companion.claims", description=__doc__)
    parser.add_argument(
        "command",
        choices=("count", "list", "mutate"),
        help="count verdicts, list claims, or change every digit of every table by one",
    )
    parser.add_argument("document", nargs="?", choices=claims.documents(), help="all when left out")
    parser.add_argument("--verdict", choices=claims.VERDICTS, help="only claims with this verdict (list)")
    parser.add_argument("--out", type=Path, help="write the result as CSV to this file")
    chosen = parser.parse_args(arguments)
    if chosen.command == "mutate":
        cells = claims.mutation(None if chosen.document is None else [chosen.document])
        result, shown = cells, mutants.shares(cells)
    else:
        ledger = claims.frame(chosen.document, chosen.verdict)
        counts = ledger.groupby(["document", "verdict"]).size().unstack(fill_value=0)
        result = ledger if chosen.command == "list" else counts.reset_index()
        shown = ledger[["id", "printed", "recomputed", "verdict"]] if chosen.command == "list" else counts
    print(shown.to_string())
    if chosen.out:
        try:
            write(result, chosen.out)
        except OSError as error:
            print(f"claims: {sentence(error)}", file=sys.stderr)
            return 2
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
