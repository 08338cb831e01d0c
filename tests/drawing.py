"""What tests of figures read back from the functions that draw them."""

import re

import numpy as np
import xarray as xr

#: Variables of a case that are numbers of their own, one where a row does not give them.
OF_CASES = ("repeats", "flops", "bytes_read", "bytes_written")
STATISTICS = {"minimum": "min", "median": "median", "maximum": "max"}


def linear(colour: str) -> np.ndarray:
    """Red, green and blue of ``#rrggbb`` or ``rgb(r, g, b)``, proportional to light."""
    hexadecimal = colour.startswith("#")
    parts = [int(part, 16 if hexadecimal else 10) / 255
             for part in re.findall(r"[0-9a-fA-F]{2}" if hexadecimal else r"\d+", colour)[:3]]  # fmt: skip
    return np.array([part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts])


def contrast(one: str, other: str) -> float:
    """Contrast of two colours, 1 to 21 (WCAG 2.1)."""
    dark, light = sorted(float(linear(colour) @ (0.2126, 0.7152, 0.0722)) for colour in (one, other))
    return (light + 0.05) / (dark + 0.05)


def cases(rows: list[dict], **outputs) -> xr.Dataset:
    """A run of cases made up here, as ``runs.dataset`` gives one.

    A row holds ``seconds`` (the samples), perhaps ``flags`` and ``observed`` (lists by name), further variables
    of a case by names of :data:`OF_CASES`, and its parameters; ``outputs`` are ``name=(dims, values)``.
    """
    samples = np.array([row["seconds"] for row in rows], dtype=float)
    variables = {
        "seconds": (("case", "sample"), samples),
        "flags": ("case", np.array([row.get("flags", "") for row in rows], dtype=object)),
        **{name: ("case", getattr(np, function)(samples, axis=1)) for name, function in STATISTICS.items()},
        "median_low": ("case", np.full(len(rows), np.nan)),
        "median_high": ("case", np.full(len(rows), np.nan)),
    }
    for name in OF_CASES:
        variables[name] = ("case", np.array([row.get(name, 1) for row in rows]))
    for name in dict.fromkeys(name for row in rows for name in row.get("observed", {})):
        series = [row.get("observed", {}).get(name, np.full(samples.shape[1], np.nan)) for row in rows]
        variables[f"observed_{name}"] = (("case", "sample"), np.array(series, dtype=float))
    own = {"seconds", "flags", "observed", *OF_CASES}
    names = dict.fromkeys(name for row in rows for name in row if name not in own)
    coordinates = {name: ("case", np.array([row.get(name, np.nan) for row in rows])) for name in names}
    attributes = {"machine": "a machine", "preset": "quick", "date": "2026-01-02T03:04:05Z"}
    return xr.Dataset({**variables, **outputs}, coords=coordinates, attrs=attributes)


def astray(figure) -> list[str]:
    """Labels of points that stand nearer to another mark than to their own."""
    figure.canvas.draw()
    found = []
    for axis in figure.axes:
        drawn = [
            axis.transData.transform(line.get_xydata()) for line in axis.get_lines() if line.get_marker() != "None"
        ]
        for label in (text for text in axis.texts if text.get_text() and hasattr(text, "xy")):
            box, own, marks = label.get_window_extent(), axis.transData.transform(label.xy), np.vstack(drawn)
            own_gap, *gaps = (np.hypot(*(at - np.clip(at, box.min, box.max)).T) for at in (own, marks))
            others = np.hypot(*(marks - own).T) > 3  # pixels
            found += [label.get_text()] * bool((gaps[0][others] < own_gap).any())
    return found
