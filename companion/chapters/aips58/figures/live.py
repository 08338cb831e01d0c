"""Figures and tables of the runs of chapter 2: the Dirty Dozen Test rerun, messages, images."""

import numpy as np
import pandas as pd
import xarray as xr

from companion.chapters.aips58.figures import marks
from companion.figures.beside import each_machine
from companion.figures.parts import bars, converted, cpu, of_samples, points, run_title, with_spread
from companion.figures.rendering import Shown, show
from companion.figures.style import INK, axes
from companion.figures.tabular import Table, table
from companion.records.runs import single

#: What a run has in each of its rows, by name in the record.
_RUN = "run_"


def runs_frame(record: xr.Dataset) -> pd.DataFrame:
    """The rows of a record's outputs as a table."""
    record = single(record)
    names = [str(name) for name in record if str(name).startswith(_RUN)]
    return pd.DataFrame({name.removeprefix(_RUN): record[name].values for name in names})


def named(frame: pd.DataFrame, record: xr.Dataset) -> pd.DataFrame:
    """``frame`` with the processor of the run in place of ``here`` in the names of its columns."""
    return frame.rename(columns=lambda name: str(name).replace("here", cpu(record)))


def largest(ddt: xr.Dataset, record: xr.Dataset) -> str:
    """The largest size of the memo that a run has."""
    return next(size for size in ddt["size"].values.tolist()[::-1] if size in record["run_size"].values)


def memo_table(ddt: xr.Dataset, record: xr.Dataset, size: str = "") -> pd.DataFrame:
    """One size, or the largest, as the memo prints it: CPU, real, C/R of the run, ratios of the three systems to it."""
    frame, size = runs_frame(record), size or largest(ddt, record)
    frame = frame[frame["size"] == size].set_index("task")
    problems = [name for name in ddt["problem"].values if name in frame.index]
    frame = frame.loc[problems]
    out = pd.DataFrame({"problem": problems, "CPU": frame["cpu"].values, "real": frame["real"].values})
    out["C/R"] = out["CPU"] / out["real"]
    for system in ddt["system"].values:
        old = ddt.sel(size=size, system=system, problem=problems)
        out[f"CPU, {system}/here"] = old["cpu"].values / out["CPU"]
        out[f"real, {system}/here"] = old["real"].values / out["real"]
    out["bits, max"], out["bits, rms"] = frame["bits_maximum"].values, frame["bits_rms"].values
    out.attrs["units"] = {"CPU": "s", "real": "s"}
    return out


#: Task, its product and the name of the picture.
PICTURES = (("UVMAP", "dirty", "dirty"), ("APCLN", "clean", "CLEAN"), ("VTESS", "model", "maximum entropy"))


#: How a message reaches its file.
WAY_NAMES = {
    "reopened": "opened for each",
    "synced": "opened and synced",
    "late": "opened, late answer",
    "kept": "kept open",
    "off": "no file",
}


def _where(frame: pd.DataFrame, which: str) -> str:
    """How the fastest or slowest message with a file is written, and where."""
    row = frame.loc[getattr(frame[frame["way"] != "off"]["real"], which)()]
    return f"with a file {WAY_NAMES[row['way']]}, in {row['place']}"


@each_machine
def messages(record: xr.Dataset) -> Shown:
    """CPU and real time of one message by way and place, with their spread."""
    frame = runs_frame(record)[["way", "place"]]
    times = {
        kind: converted(
            of_samples(record[f"observed_{kind}"], record["flags"]), lambda t: t / record["messages"].values
        )
        for kind in ("cpu", "real")
    }
    figure, axis = axes(height=4.2)
    ways, places = list(dict.fromkeys(frame["way"])), list(dict.fromkeys(frame["place"]))
    series = [(place, kind) for place in places for kind in times]
    for number, (place, kind) in enumerate(series):
        own = (frame["place"] == place).to_numpy()
        rows = np.array([ways.index(way) for way in frame["way"][own]])
        rows = rows + 0.18 * (number - (len(series) - 1) / 2)
        found = converted(times[kind][own], lambda t: 1e6 * t)
        name = "CPU" if kind == "cpu" else "real"
        bars(axis, rows, found, label=f"{place}: {name}", index=number, line=False, across=True)
    axis.set_yticks(np.arange(len(ways)), [WAY_NAMES[way] for way in ways])
    axis.set_title(run_title(record), size=9, loc="left", pad=38)
    frame = with_spread(frame, **times)
    listed = frame.assign(way=frame["way"].map(WAY_NAMES), cpu=1e6 * frame["cpu"], real=1e6 * frame["real"])
    where = {end: _where(frame, f"idx{end}") for end in ("min", "max")}
    return show(figure, data=frame, name="aips58_messages", run=record, items=listed, where=where)


def overhead(frame: pd.DataFrame) -> Shown:
    """Printed ratio of CPU times, Pittsburgh over Toronto, against the one predicted from the small problems."""
    figure, axis = axes(height=3.4)
    for number, size in enumerate(("medium", "large")):
        points(axis, frame[f"{size}, predicted"], frame[f"{size}, printed"], label=size, index=number, line=False)
    low, high = 0.7, 13
    axis.plot([low, high], [low, high], color=INK, linewidth=0.8)
    axis.set(xlim=(low, high), ylim=(low, high))
    far = (frame["large, predicted"] / frame["large, printed"]).sub(1).abs()
    return show(figure, data=frame, name="aips58_overhead", worst=frame.loc[far.idxmax()])


def images(pictures: dict[str, np.ndarray], size: str) -> Shown:
    """Dirty image, CLEAN and maximum entropy, one below the other, with a common scale in Jy per beam."""
    figure, panels = axes(len(pictures), 1, height=3.1 * len(pictures))
    for axis, (name, image) in zip(np.ravel(panels), pictures.items(), strict=True):
        side = image.shape[0]
        part = image[side // 4 : side - side // 4, side // 4 : side - side // 4]
        top = float(part.max())
        edges = (-side / 4, side / 4, -side / 4, side / 4)
        # the square root shows what lies far below the brightest pixel; the scale tells the values
        norm = _square_root(top)
        drawn = axis.imshow(
            part, origin="lower", extent=edges, cmap="viridis", norm=norm, interpolation="nearest", rasterized=True
        )
        bar = figure.colorbar(drawn, ax=axis)
        bar.set_ticks([0.0, *(top * part for part in (0.02, 0.1, 0.25, 0.5, 1.0))])
        bar.ax.yaxis.set_major_formatter(lambda value, _: f"{value:.2g}")
        bar.ax.minorticks_off()
        bar.set_label("Jy per beam" if name != "maximum entropy" else "Jy per pixel")
        axis.set_title(name, size=9)
        axis.set(xlabel="pixels from the middle", ylabel="pixels")
        axis.grid(False)
    text = "; ".join(f"{name}: {image.min():.3g} to {image.max():.3g}" for name, image in pictures.items())
    return show(
        figure,
        data=pd.DataFrame({name: [image.min(), image.max(), image.std()] for name, image in pictures.items()},
                          index=["least", "largest", "deviation"]).rename_axis("pixel").reset_index(),
        name=f"aips58_images_{size}",
        title=f"The {size} image: dirty, cleaned, and of maximum entropy",
        alt=f"The inner half of the {size} image in three forms, colours by the square root of the brightness. "
        f"Values {text}.",
    )  # fmt: skip


def _square_root(top: float):
    from matplotlib.colors import FuncNorm

    # below zero, to a hundredth of the top, colours go on; what is lower takes the lowest
    low = -0.01 * top
    return FuncNorm((lambda x: np.sqrt(np.maximum(x - low, 0)), lambda y: y**2 + low), vmin=low, vmax=top, clip=True)


def wrong(cases: list) -> Shown:
    """Images of ``damage.cases`` that have one, with flux and bits, on the scale of the first, the truth."""
    cases = [case for case in cases if case.image is not None]
    truth = cases[0]
    side = len(truth.image)
    inner = (slice(side // 4, side - side // 4),) * 2
    norm = _square_root(float(truth.image.max()))
    figure, panels = axes((len(cases) + 2) // 3, 3, height=1.75 * ((len(cases) + 2) // 3), squeeze=False)
    for axis, case in zip(panels.ravel(), cases, strict=False):
        axis.imshow(case.image[inner], origin="lower", cmap="viridis", norm=norm, rasterized=True)
        name = case.what.partition(":")[0]
        title = f"{name}\n{case.flux:.3g} Jy, {case.maximum:.0f} bits"
        axis.set_title(title.replace("-", "−"), size=9)
        axis.set(xticks=[], yticks=[])
        axis.grid(False)
    for axis in panels.ravel()[len(cases) :]:
        axis.axis("off")
    frame = pd.DataFrame([case._asdict() for case in cases]).drop(columns="image")
    apart = np.abs(cases[-1].image - cases[-2].image).max() / truth.image.max()
    text = "; ".join(
        f"{case.what}: {case.flux:.2f} Jy, {case.maximum:.0f} bits, {'accepted' if case.accepted else 'refused'}"
        for case in cases
    )
    return show(figure, data=frame, name="aips58_wrong", text=text, apart=100 * float(apart))


#: Experiments of the runs that :func:`conclusions` takes.
CONCLUDED = ("ddt", "ddtload", "load", "gather", "habits")


def conclusions(ddt: xr.Dataset, facts: xr.Dataset, bare: xr.DataArray, *records: xr.Dataset) -> pd.DataFrame:
    """The memo's conclusions: as it words them in numbers, what its tables give, and medians and intervals of the runs.

    ``bare`` is the CPU time of Pittsburgh without the cost of its files; ``records`` are those of :data:`CONCLUDED`.
    """
    found = dict(zip(CONCLUDED, records, strict=True))
    cpu, real = ({system: ddt[kind].sel(system=system, drop=True) for system in ddt["system"].values}
                 for kind in ("cpu", "real"))  # fmt: skip
    gain, waited = real["NRAO1"] / real["CLSC"], real["PSC"] / real["NRAO1"]
    share = float((cpu["CLSC"] / real["CLSC"]).sel(size="large").median())
    cleaned = (cpu["CLSC"] / bare).sel(size=["medium", "large"], problem=["APCLN", "MXCLN"])
    frame = runs_frame(found["ddt"])
    large = frame["size"] == "large"
    convex = real["NRAO1"].sel(size="large", problem=frame["task"][large].values).values
    gains = convex[:, None] / found["ddt"]["observed_real"].values[large]
    habits, shares = runs_frame(found["habits"])["habits"].values, marks.shares(found["habits"])
    busy = runs_frame(found["load"])["beside"].values > 0

    def over(name: str, kind: str, column: str, above: str, below: str) -> str:
        rows = runs_frame(found[name])[column].values
        return marks.typical(*(found[name][f"observed_{kind}"].values[rows == each] for each in (above, below)))

    rows = [
        ("CPU time, slow file handling over plain: most", f">= {float(facts['cpu_factor']):.0f}",
         float((cpu["PSC"] / cpu["CLSC"]).max()), over("ddtload", "cpu", "way", "late", "off")),
        ("real time, Convex over X-MP: best", f"~ {float(facts['real_best']):.0f}", float(gain.max()),
         marks.typical(gains[[np.nanmedian(gains, axis=1).argmax()]])),
        ("real time, Convex over X-MP: typical", f"{float(facts['real_typical_least']):.0f} to "
         f"{float(facts['real_typical_most']):.0f}", float(gain.median()), marks.typical(gains)),
        ("real time, machine that others use over the Convex, or over itself alone", "no better than 1",
         float(waited.median()), marks.typical(*(found["load"]["observed_real"].values[of] for of in (busy, ~busy)))),
        ("CPU time of CLEAN, gather by software over by hardware", "> 1 expected", float(cleaned.median()),
         over("gather", "cpu", "method", "scalar", "gather")),
        ("CPU over real time, large problems: data in memory", "", float("nan"), marks.typical(shares[habits == 0])),
        ("CPU over real time, large problems: through files", "", share, marks.typical(shares[habits == 1])),
    ]  # fmt: skip
    return pd.DataFrame(rows, columns=["conclusion", "memo", "its tables", "here"])


def full_tables(ddt: xr.Dataset, record: xr.Dataset | None) -> Table:
    """Every size of a committed record as the memo prints it; one sentence where none is committed."""
    if record is None:
        text = (
            "No run at the memo's sizes is committed yet; python -m companion run aips58-ddt --preset paper makes one."
        )
        return Table(f"<p>{text}</p>", text)
    sizes = [size for size in ddt["size"].values if size in record["run_size"].values]
    made = [
        table(
            named(memo_table(ddt, record, size), record),
            digits=3,
            folded=True,
            run=record,
            index=False,
            name=f"aips58_full_{size}",
            caption=f"The {size} problems as the memo lays them out. {run_title(record)}".replace("\n", ", "),
        )
        for size in sizes
    ]
    return Table("".join(part.html for part in made), "\n\n".join(part.text for part in made))
