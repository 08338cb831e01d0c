"""Figures of chapter 4 on scalability, on the monitoring system, and on what survives of other systems."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import xarray as xr

from companion.figures.beside import each_machine
from companion.figures.parts import bars, case_intervals, converted, points
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes, meaning
from companion.labels import plural
from companion.records.runs import single

#: How communication and waiting go with p, the number of processors over the operational one: T ~ p^-a.
_EXPONENTS = (1.0, 0.5, 0.0)


def split(times: xr.Dataset, job: str) -> dict[str, float]:
    """Seconds of one job that divide by processors, that are exchanged or waited for, and that are serial.

    Computing in threads divides.  Communication and barriers are one part, whose law is not known.
    Serial work, input and output, and what the instrumentation missed stay as they are.
    """
    part = times["time"].sel(job=job).to_series()
    return {
        "compute": float(part["parallel"]),
        "communicate": float(part["comms"] + part["barrier"]),
        "serial": float(part[["I/O", "serial", "missing"]].sum()),
    }


def model_speed(parts: Mapping[str, float], p, exponent: float):
    """Speed at ``p`` times the operational number of processors, over p = 1: T(1)/T(p)."""
    p = np.asarray(p, dtype=float)
    time = parts["compute"] / p + parts["communicate"] / p**exponent + parts["serial"]
    return sum(parts.values()) / time


def _speeds(record: xr.Dataset, size: str, name: str):
    """Label, numbers of threads, and speed over one thread with its spread, for each size of a record."""
    record = single(record)
    frame = pd.DataFrame({"size": record[size].values, "threads": record["threads"].values})
    seconds = case_intervals(record)
    for value, part in frame.groupby("size"):
        part = part.sort_values("threads")
        one = seconds["middle"][part.index[0]] * part["threads"].iloc[0]
        yield f"{name}{value}", part["threads"], converted(seconds.loc[part.index], lambda each, one=one: one / each)


@each_machine
def scalability(times: xr.Dataset, solver: xr.Dataset, model: xr.Dataset | None = None) -> Shown:
    """The three jobs by a model of their printed splits, 1 at the operational processors, and our own curves here.

    The band is what the unknown law of communication leaves open, from p^-1 to constant.
    ``solver`` is a record of ``nht1-solver``, ``model`` one of the spectral model by section, of the same machine.
    """
    figure, (axis, host) = axes(2, 1, height=7.6)
    ratio, rows = np.geomspace(0.25, 4, 33), []
    for number, job in enumerate(str(name) for name in times["job"].values):
        speeds = [model_speed(split(times, job), ratio, exponent) for exponent in _EXPONENTS]
        low, high = np.min(speeds, axis=0), np.max(speeds, axis=0)
        axis.fill_between(ratio, low, high, color=meaning("calculated"), alpha=0.2)
        axis.plot(ratio, speeds[1], color=meaning("calculated"), linestyle=("-", "--", ":")[number],
                  label=f"{job}, 1 = {int(times['cpus'].sel(job=job))} CPUs")  # fmt: skip
        rows += [{"curve": job, "ratio": r, "speed": s, "low": a, "high": b}
                 for r, s, a, b in zip(ratio, speeds[1], low, high, strict=True)]  # fmt: skip
    axis.plot(ratio, ratio, color=INK, linewidth=0.8, label="proportional")
    curves = [*_speeds(solver, "N", "BT, N = "), *(_speeds(model, "truncation", "spectral model, T") if model else ())]
    counts = sorted({int(n) for _, threads, _ in curves for n in threads})
    for number, (label, threads, speed) in enumerate(curves):
        bars(host, threads, speed, label=label, index=number)
        rows += [{"curve": label, "ratio": n, "speed": s, "low": a, "high": b} for n, a, s, b in
                 zip(threads, speed["low"], speed["middle"], speed["high"], strict=True)]  # fmt: skip
    most = max(counts)
    host.plot([1, most], [1, most], color=INK, linewidth=0.8, label="proportional")
    host.set(xticks=counts)
    double = {job: [float(model_speed(split(times, job), 2, e)) for e in (0.0, 1.0)] for job in times["job"].values}
    doubled = pd.DataFrame([(job, *ends) for job, ends in double.items()], columns=["job", "low", "high"])
    here = "; ".join(
        f"{label} {speed['middle'].iloc[-1]:.2f} on {threads.iloc[-1]}" for label, threads, speed in curves
    )
    return show(figure, data=pd.DataFrame(rows), name="p5plus_scalability", run=solver, items=doubled, here=here)


def lost(measured: xr.Dataset) -> tuple[np.ndarray, dict[str, pd.DataFrame]]:
    """Numbers of threads; and by pattern what a period loses, with its spread, over what one thread alone loses."""
    measured = single(measured)
    seconds, per = case_intervals(measured), measured["steps"].values // measured["period"].values
    row = {(int(n), str(pattern)): i for i, (n, pattern) in
           enumerate(zip(measured["threads"].values, measured["pattern"].values, strict=True))}  # fmt: skip
    threads = sorted({n for n, _ in row})

    def loss(n: int, pattern: str) -> dict:
        quiet, found = seconds.loc[row[n, "undisturbed"]], seconds.loc[row[n, pattern]]
        ends = {"low": found["low"] - quiet["high"], "middle": found["middle"] - quiet["middle"],
                "high": found["high"] - quiet["low"]}  # fmt: skip
        each = {name: value / per[row[n, pattern]] for name, value in ends.items()}
        return {**each, "flagged": bool(quiet["flagged"] or found["flagged"])}

    dt = loss(1, "synchronised")["middle"]
    tables = {pattern: pd.DataFrame([loss(n, pattern) for n in threads]) for pattern in ("synchronised", "drifted")}
    return np.array(threads), {name: converted(table, lambda value: value / dt) for name, table in tables.items()}


@each_machine
def monitoring(measured: xr.Dataset, simulated: xr.Dataset) -> Shown:
    """Loss to periodic disturbances: on threads here, and simulated for more processors and for hours."""
    threads, found = lost(measured)
    figure, (host, many, hours) = axes(3, 1, height=10.0)
    for number, (pattern, each) in enumerate(found.items()):
        bars(host, threads, each, label=f"{pattern}, measured", index=number)
    host.plot(threads, threads, color=INK, linewidth=0.8, linestyle=":", label="N dt")
    host.set(xticks=threads)
    count = simulated["processors"].values
    for number, rate in enumerate(simulated["barriers"].values):
        text = f"{int(rate)} barriers a minute"
        style = {"color": meaning("calculated"), "linestyle": ("-", "--", "-.")[number], "label": text}
        many.plot(count, simulated["lost"].values[number], **style)
        hours.plot(simulated["hours"], simulated["lost_after"].values[number], **style)
    many.plot(count, count, color=INK, linewidth=0.8, linestyle=":", label="N dt")
    job = int(simulated["job"])
    hours.axhline(job, color=INK, linewidth=0.8, linestyle=":", label="N dt")
    hours.set(title=f"simulated, N = {job}, clocks off by {float(simulated['drift']):g} · 10⁻⁶ (assumed)")
    pairs = pd.Series(found["drifted"]["middle"].to_numpy(), [plural(n, "thread") for n in threads])
    ends = ", ".join(f"{row[-1]:.0f}" for row in simulated["lost"].values)
    data = simulated[["lost"]].to_dataframe().reset_index()
    said = {"items": pairs, "count": count, "ends": ends, "job": job}
    return show(figure, data=data, name="p5plus_monitoring", run=measured, **said)


def performance(power: pd.DataFrame, blades: pd.DataFrame, systems: xr.Dataset) -> pd.DataFrame:
    """Performance of a CPU and of a kW of each system over Power5+, with its place in the report.

    A Power4+ CPU follows from the times of the same forecast on 768 CPUs, a blade's from the report's
    numbers of CPUs and, by way of Power4+, from the times of one day of T399 on 32 CPUs.
    """
    kilowatts = power.set_index("system")["kw_per_cpu"]
    rows = [
        {"system": row.system, "from": "CPUs for equal performance", "CPU": 1 / row.cpus, "kW": None}
        for row in power.itertuples()
    ]
    wall = systems["wall"]
    old = float(wall.sel(system="P5+") / wall.sel(system="P4+"))
    rows.append({"system": "Power4+", "from": "times of T799", "CPU": old, "kW": None})
    first = blades.set_index("cpus").loc[32]
    rows.append(
        {"system": "JS21 Blade", "from": "times of T399 and T799", "CPU": old * first.p4_time / first.js21_time}
    )
    frame = pd.DataFrame(rows)
    own = float(kilowatts["Power5+"])
    frame["kW"] = [row.CPU * own / kilowatts[row.system] if row.system in kilowatts else np.nan
                   for row in frame.itertuples()]  # fmt: skip
    return frame.rename(columns={"CPU": "performance of a CPU", "kW": "performance of a kW"})


def systems(power: pd.DataFrame, blades: pd.DataFrame, times: xr.Dataset, error_percent: float) -> Shown:
    """What survives of the other systems (P17 to P19) on one axis: performance of a CPU and of a kW."""
    frame = performance(power, blades, times)
    figure, axis = axes(height=3.2)
    place = np.arange(len(frame))
    points(axis, frame["performance of a CPU"], place - 0.12, label="of a CPU", index=0, line=False)
    watt, error = frame["performance of a kW"], error_percent / 100
    points(axis, watt, place + 0.12, label=f"of a kW, bars ± {error_percent:g} %", index=1, line=False)
    axis.hlines(place + 0.12, watt * (1 - error), watt * (1 + error), color=INK)
    axis.axvline(1, color=INK, linewidth=0.8)
    axis.set_yticks(place, [f"{row.system}\n({row[2]})" for row in frame.itertuples()], size=8)
    text = "; ".join(
        f"{row.system} by {row[2]}: {row[3]:.2g}" + (f", of a kW {row[4]:.2g}" if np.isfinite(row[4]) else "")
        for row in frame.itertuples()
    )
    return show(figure, data=frame, name="p5plus_systems", text=text)
