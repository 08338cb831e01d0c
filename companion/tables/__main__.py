"""``python -m companion.tables package``: writes the descriptor of the data package anew."""

import sys

from companion.tables import write_package

if __name__ == "__main__":
    if sys.argv[1:] != ["package"]:
        print(
            "usage: python -m companion.tables package   (writes data/datapackage.json from data/*/resources.json)",
            file=sys.stderr,
        )
        sys.exit(2)
    print(write_package().name)
