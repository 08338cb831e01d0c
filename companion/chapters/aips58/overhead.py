"""What Pittsburgh's file handling cost: a cost of a problem and a cost of a message, from the memo's own tables.

CPU time at Pittsburgh is taken as that at Toronto, plus what files cost there:

    PSC = CLSC + c + m · n

c is the cost of any problem (its files are found, opened and closed), m that of a message, n the messages
a problem writes.  The memo prints no n.  So c is the least excess of PSC over CLSC among the small problems;
``RUN DDTLOAD``, which writes hundreds of messages, gives m for a stated number of them; and the excess of each
small problem gives its n.  Taken from the small problems alone, the same seconds then predict the medium
and the large ones, which were not used.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from companion.late import pd, xr

#: Messages of RUN DDTLOAD that are tried: the memo says "hundreds".
_COUNTS = (200, 400, 800)


class _Model(NamedTuple):
    """Seconds of CPU time that Pittsburgh adds."""

    problem_seconds: float  # c
    message_seconds: float  # m
    overhead: xr.DataArray  # c + m·n of each problem


def model(ddt: xr.Dataset, ddtload: xr.Dataset, messages: int = 400) -> _Model:
    """c, m and the overhead of every problem, from the small problems and RUN DDTLOAD."""
    small = ddt["cpu"].sel(size="small", drop=True)
    excess = small.sel(system="PSC", drop=True) - small.sel(system="CLSC", drop=True)
    least = float(excess.min())
    load = float(ddtload["cpu"].sel(system="PSC") - ddtload["cpu"].sel(system="CLSC"))
    return _Model(least, (load - least) / messages, excess)


def table(ddt: xr.Dataset, found: _Model) -> pd.DataFrame:
    """Per problem: overhead, messages it stands for, printed and predicted ratios, and the ratio without it."""
    clsc, psc = (ddt["cpu"].sel(system=name, drop=True) for name in ("CLSC", "PSC"))
    columns = {
        "overhead": found.overhead.values,
        "messages": np.round((found.overhead.values - found.problem_seconds) / found.message_seconds),
    }
    for size in ("medium", "large"):
        columns[f"{size}, printed"] = (psc / clsc).sel(size=size).values
        columns[f"{size}, predicted"] = (1 + found.overhead / clsc).sel(size=size).values
    columns["large, without overhead"] = ((psc - found.overhead) / clsc).sel(size="large").values
    return pd.DataFrame({"problem": ddt["problem"].values} | columns)


def without(ddt: xr.Dataset, found: _Model) -> xr.DataArray:
    """CPU time of Pittsburgh less the overhead, along size and problem."""
    return ddt["cpu"].sel(system="PSC", drop=True) - found.overhead


def hidden(ddt: xr.Dataset, found: _Model, problems: list[str]) -> pd.DataFrame:
    """Gain in CPU time of Pittsburgh over the Convex as printed and without the overhead, medium and large.

    At the small size the model has nothing to say: there the overhead is what remains over Toronto.
    """
    convex, printed = (ddt["cpu"].sel(system=name, drop=True) for name in ("NRAO1", "PSC"))
    columns = {}
    for size in ("medium", "large"):
        columns[f"{size}, printed"] = (convex / printed).sel(size=size, problem=problems).values
        columns[f"{size}, without files"] = (convex / without(ddt, found)).sel(size=size, problem=problems).values
        columns[f"{size}, Toronto"] = (
            (convex / ddt["cpu"].sel(system="CLSC", drop=True)).sel(size=size, problem=problems).values
        )
    return pd.DataFrame({"problem": problems} | columns)


def systems_ratios(ddt: xr.Dataset, ddtload: xr.Dataset, found: _Model, messages: int = 400) -> pd.DataFrame:
    """RUN DDTLOAD: CPU time of the systems as printed, and by the model with and without its two costs.

    Pittsburgh is modelled as Toronto plus c + m·n, so the model without messages to a file, MSGKIL=TRUE, leaves c.
    """
    cpu = ddtload["cpu"].to_series()
    clsc = cpu["CLSC"]
    with_file = clsc + found.problem_seconds + found.message_seconds * messages
    modelled = {"PSC, messages to the file": with_file, "PSC, MSGKIL": clsc + found.problem_seconds}
    rows = [{"run": f"{name}, printed", "cpu": cpu[name]} for name in cpu.index]
    rows += [{"run": f"{name}, model", "cpu": value} for name, value in modelled.items()]
    frame = pd.DataFrame(rows)
    frame["over CLSC"], frame["over NRAO1"] = frame["cpu"] / clsc, frame["cpu"] / cpu["NRAO1"]
    return frame


def error(frame: pd.DataFrame) -> float:
    """Median relative distance of the predicted ratios of medium and large problems from the printed ones."""
    off = [np.abs(frame[f"{size}, predicted"] / frame[f"{size}, printed"] - 1) for size in ("medium", "large")]
    return float(np.median(np.concatenate(off)))


def message_costs(ddt: xr.Dataset, ddtload: xr.Dataset) -> pd.DataFrame:
    """CPU seconds of a message by how many RUN DDTLOAD is taken to write."""
    return pd.DataFrame(
        {"messages": _COUNTS, "cost": [model(ddt, ddtload, count).message_seconds for count in _COUNTS]}
    )


def ratios(ddtload: xr.Dataset) -> pd.DataFrame:
    """CPU and real time of RUN DDTLOAD of each pair of systems, first over second."""
    pairs = (("PSC", "CLSC"), ("NRAO1", "CLSC"), ("PSC", "NRAO1"))
    return pd.DataFrame(
        [
            {"pair": f"{one}/{two}"}
            | {kind: float(ddtload[kind].sel(system=one) / ddtload[kind].sel(system=two)) for kind in ("cpu", "real")}
            for one, two in pairs
        ]
    )
