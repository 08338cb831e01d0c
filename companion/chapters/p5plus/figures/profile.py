"""Profiles of a forecast by routine: the printed one of 2006, and the account that the small model keeps (P13)."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.beside import each_machine
from companion.figures.parts import MARKED, bars, cpu, of_samples, points, rows, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import axes, hollow
from companion.labels import plural
from companion.records.runs import single

#: Compiled regions of the spectral model by the names of their functions.
REGIONS = {
    "inverse_legendre": "Legendre transform, inverse",
    "direct_legendre": "Legendre transform, direct",
    "inverse_rows": "Fourier transform, inverse",
    "direct_rows": "Fourier transform, direct",
    "products_strict": "products at grid points",
    "advance_strict": "time step of the spectra",
    "_scale": "streamfunction and velocity potential",
    "_zonal_and_meridional": "spectra of the wind",
    "_curl_and_divergence": "curl and divergence",
}
#: What lies between regions: one thread prepares the next one, and writes output.
SERIAL = "serial, between regions"


def regions(record: xr.Dataset) -> pd.DataFrame:
    """Share [%] of the elapsed time of a forecast in each compiled region, with its spread, and calls of a forecast.

    Rows are ``region`` in falling order of their share, and what lies between them.  ``record`` is a run of
    ``xc30-forecast``.
    """
    record = single(record)
    (row,) = np.flatnonzero(record["what"].values == "forecast")
    repeats, seconds = float(record["repeats"].values[row]), record["seconds"].values[row]
    flags = [str(record["flags"].values[row])]

    def share(name: str) -> pd.DataFrame:
        return of_samples([100 * record[f"observed_{name}"].values[row] / repeats / seconds], flags)

    names = {f"seconds of {name}": words for name, words in REGIONS.items()} | {"serial": SERIAL}
    calls = [np.nanmedian(record[f"observed_calls of {name}"].values[row]) / repeats for name in REGIONS]
    found = pd.concat([share(name) for name in names], ignore_index=True)
    frame = found.assign(region=list(names.values()), calls=[*calls, np.nan])
    return frame.sort_values("middle", ascending=False, ignore_index=True)


@each_machine
def profiles(printed: xr.Dataset, record: xr.Dataset | None) -> Shown:
    """Share of the time by routine: T399 on Power4+ as printed, and the regions of the small model where it ran."""
    old = printed[["self_percent"]].to_dataframe().reset_index()
    found = pd.DataFrame() if record is None else regions(record)
    panels = [old["routine"], *([found["region"]] if len(found) else [])]
    figure, drawn = axes(len(panels), 1, height=1.2 + 0.2 * sum(map(len, panels)), sharex=True,
                         gridspec_kw={"height_ratios": [len(each) for each in panels]})  # fmt: skip
    drawn = np.atleast_1d(drawn)
    drawn[0].barh(range(len(old)), old["self_percent"], height=0.7, **hollow("printed"))
    drawn[0].set(title="IFS T399, Power4+ (2006)")
    here, also = "", ""
    if record is not None:
        case = record.isel(case=int(np.flatnonzero(record["what"].values == "forecast")[0]))
        team = f"{plural(int(case['threads']), 'thread')} of {cpu(record)}"
        drawn[1].set(title=f"one-layer model, T{int(case['truncation'])}")
        bars(drawn[1], np.arange(len(found)), found, label="measured", index=1, line=False, across=True)
        here = f" Below, filled: regions of the one-layer model on {team}, measured. {MARKED}"
        also = " One-layer model: " + ", ".join(f"{row.region} {row.middle:.0f} %" for row in found.itertuples()) + "."
    for axis, names in zip(drawn, panels, strict=True):
        rows(axis, names, 0.6, 0.6)
        axis.set_xlim(0)
    drawn[-1].set(xlabel="share of the time [%]")
    measured = with_spread(found[["region", "calls"]], share=found) if len(found) else found
    return show(
        figure,
        data=pd.concat([old, measured], axis=1),
        name="p5plus_profiles",
        run=record,
        first=old.loc[old["self_percent"].idxmax()],
        also=also,
        old=old["self_percent"].sum(),
        here=here,
    )


def drhook(profile: xr.Dataset) -> Shown:
    """Rates at which the twenty routines work."""
    frame = profile[["mips", "mflops", "div_percent"]].to_dataframe()
    figure, axis = axes(height=4.4)
    place = np.arange(len(frame))
    points(axis, frame["mips"], place, label="instructions [MIPS]", index=1, line=False)
    flops = points(axis, frame["mflops"], place, label="floating-point operations [MFLOPS]", index=0, line=False)
    flops.set_clip_on(False)  # a routine with none lies on the edge
    axis.set_yticks(place, frame.index)
    fast = frame["mflops"].idxmax()
    few, mflops = (frame["mflops"] < 100).sum(), frame["mflops"]
    return show(figure, data=profile, name="p5plus_drhook", fast=fast, mflops=mflops, below_100=few)
