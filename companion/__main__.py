"""``python -m companion``: the commands are in :mod:`companion.cli`.

They are imported within the reach of ``except``, so that Ctrl-C ends in a sentence from the first moment on.
"""

import sys


def main() -> None:
    """Entry point."""
    try:
        from companion.cli import app

        app(prog_name="python -m companion")
        code = 0
    except KeyboardInterrupt:
        code = 130
    except SystemExit as end:
        code = end.code
    if code == 130:
        print("companion: interrupted; no unfinished file is left", file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
