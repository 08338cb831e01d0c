"""Figures of chapter 1 that draw run records: the forecast rerun on this machine, beside the report's times."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.xmp1982.figures import label
from companion.figures.parts import points, run_title
from companion.figures.rendering import Shown, show
from companion.figures.style import axes
from companion.records.runs import single


def _cases(record: xr.Dataset, key: str = "configuration") -> xr.Dataset:
    """The record along ``key`` instead of along its cases, each number the best of its samples."""
    record = single(record)
    best = {name: record[name].min("sample") for name in record.data_vars if str(name).startswith("observed_")}
    found = xr.Dataset({str(name).removeprefix("observed_"): values for name, values in best.items()})
    return found.assign_coords({key: ("case", record[key].values.astype(str))}).swap_dims(case=key)


def _forecasts(printed: xr.Dataset, record: xr.Dataset, reference: str) -> pd.DataFrame:
    """Net time by configuration, in units of ``reference``: the report's real, its simulated, and this machine's."""
    host = _cases(record)["net"].to_series()
    net = printed["net_forecast"].transpose("configuration", "model").to_pandas().drop(index="cray1a-disk4")
    names = [name for name in net.index if name in host.index]
    frame = net.loc[names] / net.loc[reference]
    frame["this machine"] = host.loc[names] / host.loc[reference]
    return frame


def net_times(printed: xr.Dataset, record: xr.Dataset, reference: str = "ssd2-async") -> Shown:
    """Net time of every configuration over that of two SSD files with the asynchronous driver, then and now."""
    frame = _forecasts(printed, record, reference).sort_values("simulator", ascending=False)
    figure, axis = axes(height=4.4)
    place = np.arange(len(frame))
    axis.set_yticks(place, [label(name) for name in frame.index])
    axis.set_ylim(len(frame) - 0.5, -0.5)
    axis.grid(False, axis="y")
    axis.set_xlabel(f"net time of the forecast over that of {label(reference)} [1]")
    points(axis, frame["forecast"], place, label="X-MP 1982, real forecast", index=0, line=False)
    points(axis, frame["simulator"], place, label="X-MP 1982, simulator", index=1, line=False)
    points(axis, frame["this machine"], place, label="measured here", host=True, line=False)
    axis.axvline(1.0, linewidth=0.8)
    axis.legend(loc="lower center", bbox_to_anchor=(0.3, 1.02), ncols=3, fontsize=8)
    axis.set_title(run_title(record), fontsize=8, loc="left", pad=28)
    host = frame["this machine"]
    return show(
        figure,
        data=frame.reset_index(),
        name="xmp1982_net_times_rerun",
        alt=f"Net forecast time over that of {label(reference)} for {len(frame)} configurations. In 1982 up to "
        f"{np.nanmax(frame[['forecast', 'simulator']].to_numpy()):.2f}; measured here up to {host.max():.2f} "
        f"({label(host.idxmax())}).",
    )


def forecast_table(record: xr.Dataset) -> pd.DataFrame:
    """Fig. 4.1 and 4.2 of this machine, seconds, best of the samples; overlap as a share of bytes."""
    cases, record = _cases(record), single(record)
    steps = [name for name in cases.data_vars if str(name).startswith("write_step_")]
    frame = cases[["cpu", "forecast", "net", *steps, "waiting", "overlapped"]].to_dataframe()
    frame = frame.drop(columns=[name for name in frame if name not in cases.data_vars])
    frame.insert(0, "place", record["place"].values)
    return frame.rename(columns=lambda name: name.replace("_", " ")).rename_axis("configuration").reset_index()


#: The report's section and the parts measured here that make it up.
_PARTS = (
    ("NORMAL FORECAST TIME STEP", lambda c: c["normal_cpu"]),
    ("FORECAST WRITE-UP STEP", lambda c: c["write_up_cpu"]),
    ("WRITE-UP OVERHEAD", lambda c: c["write_up_cpu"] - c["normal_cpu"]),
    ("FORECAST RADIATION STEP", lambda c: c["radiation_cpu"]),
    ("RADIATION OVERHEAD", lambda c: c["radiation_cpu"] - c["normal_cpu"]),
    ("24 HOUR FORECAST", lambda c: c["cpu"]),
)


def cpu_parts(printed: xr.Dataset, record: xr.Dataset) -> pd.DataFrame:
    """Fig. 4.4 with this machine's column: CPU seconds, and each part in units of a normal step."""
    case = _cases(record).sel(configuration="memory")
    frame = printed["cpu"].transpose("section", "machine").to_pandas()
    here = {name: float(part(case)) for name, part in _PARTS}
    here["POST PROCESSING JOB"] = float(single(record)["post_cpu"].mean())
    frame["measured here"] = pd.Series(here)
    frame = frame.loc[list(here)]
    for name in list(frame):
        frame[f"{name}, normal steps"] = frame[name] / frame.loc["NORMAL FORECAST TIME STEP", name]
    return frame.rename_axis("section").reset_index()


def overlap_table(record: xr.Dataset) -> pd.DataFrame:
    """Cost of not overlapping on the paced device: net time, and what it is over the one in memory."""
    record = single(record)
    frame = pd.DataFrame({name: record[name].values for name in ("device", "overlap")})
    frame["net time [s]"] = record["observed_net"].min("sample").values
    frame["over in memory"] = frame["net time [s]"] / frame["net time [s]"].iloc[0]
    frame["bytes overlapped"] = record["observed_overlapped"].max("sample").values
    return frame


def throughput(printed: xr.Dataset, record: xr.Dataset) -> Shown:
    """Throughput of the pairs against one job after another, then and now.

    The report's reference is the Cray 1-A, so its numbers contain the faster machine; both columns are drawn over
    their own best pair.
    """
    record = single(record)
    complete = printed["complete"]
    complete = complete if complete.ndim == 1 else complete.max("job")
    series = complete.to_series()
    then = series["ecmwf"] / series.drop("ecmwf")
    now = pd.Series(record["throughput"].values, [name.replace("-async", "") for name in record["pairing"].values])
    frame = pd.DataFrame({"1982": then, "here": now})
    figure, axis = axes(height=3.8)
    place = np.arange(len(frame))
    axis.set_yticks(place, [label(name) for name in frame.index])
    axis.set_ylim(len(frame) - 0.5, -0.5)
    axis.grid(False, axis="y")
    axis.set_xlabel("two forecasts and their jobs in turn over the pair together [1]")
    points(axis, frame["1982"], place, label="X-MP pair, in turn on the Cray 1-A", index=0, line=False)
    points(axis, frame["here"], place, label="measured here, in turn on the same machine", host=True, line=False)
    axis.legend(loc="lower center", bbox_to_anchor=(0.3, 1.02), ncols=2, fontsize=8)
    axis.set_title(run_title(record), fontsize=8, loc="left", pad=28)
    return show(
        figure,
        data=frame.rename_axis("pairing").reset_index(),
        name="xmp1982_throughput_rerun",
        alt=f"Throughput of {len(frame)} pairs. In 1982 {then.min():.2f} to {then.max():.2f} against the Cray 1-A in "
        f"turn; here {now.min():.2f} to {now.max():.2f} against the same machine in turn.",
    )


def pairs_table(record: xr.Dataset) -> pd.DataFrame:
    """Fig. 5.3 and the longest and shortest write-up step of Fig. 5.4, this machine, seconds."""
    record = single(record)
    rows = []
    for n, name in enumerate(record["pairing"].values):
        for job in range(record.sizes["job"]):
            at = {"pairing_number": n, "job": job}
            steps = record["write_step"].isel(at)
            rows.append(
                {
                    "pair": label(str(name).replace("-async", "")),
                    "job": job + 1,
                    "forecast": float(record["forecast_clock"].isel(at)),
                    "5 jobs": float(record["posts"].isel(at)),
                    "complete": float(record["complete"].isel(pairing_number=n)),
                    "shortest write-up": float(steps.min()),
                    "longest write-up": float(steps.max()),
                }
            )
    return pd.DataFrame(rows)


def accounts_table(record: xr.Dataset) -> pd.DataFrame:
    """Where the clock time of each forecast went, seconds; what no account explains is the overhead."""
    record = single(record)
    frame = pd.DataFrame({"test": record["account"].values})
    for name in ("executing", "waiting", "transfers", "clock"):
        frame[name] = record[f"account_{name}"].values
    frame["overhead"] = frame["clock"] - frame[["executing", "waiting", "transfers"]].sum(axis=1)
    return frame
