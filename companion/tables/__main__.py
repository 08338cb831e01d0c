"""``python -m companion.tables package``: writes the descriptor of the data package anew."""

import sys

from companion.tables import write_package
from companion.terminal import say

if __name__ == "__main__":
    if sys.argv[1:] != ["package"]:
        say(
            "usage: python -m companion.tables package   (writes data/datapackage.json from data/*/resources.json)",
            err=True,
        )
        sys.exit(2)
    say(write_package().name)
