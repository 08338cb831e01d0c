"""``python -m companion.tables package``: writes the descriptor of the data package anew."""

import sys

from companion.tables import write_package

if __name__ == "__main__":
    if sys.argv[1:] != ["package"]:
        sys.exit("usage: python -m companion.tables package   (data/datapackage.json from data/*/resources.json)")
    print(write_package().name)
