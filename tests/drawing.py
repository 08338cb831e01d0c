"""What tests of figures read back from the functions that draw them."""

import base64
import io
import re

import pandas as pd


def offered(shown) -> pd.DataFrame:
    """The CSV that a shown figure offers to its reader."""
    packed = re.search(r"text/csv;charset=utf-8;base64,([^\"]+)", shown.html).group(1)
    return pd.read_csv(io.BytesIO(base64.b64decode(packed)))


def watch(monkeypatch, module, makers):
    """A function of a name: runs ``makers()[name]`` gives what ``module`` handed to ``show``, and axes."""
    caught, show = {}, module.show

    def catching(figure, **options):
        caught.update(options, axes=figure.axes)
        return show(figure, **options)

    monkeypatch.setattr(module, "show", catching)
    return lambda name: (makers()[name](), caught)[1]
