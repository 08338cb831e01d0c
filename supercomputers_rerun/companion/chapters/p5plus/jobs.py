"""The section *Where does the time of a forecast go?*: three jobs of 2006, and a small model on ranks of today."""

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.common import np, pd, plural

#: Sections of the report's jobs with their colours, and the class of a rank's time that is like one of them.
_COLOURS = {
    "parallel": "computing",
    "comms": "communication",
    "barrier": "waiting",
    "serial": "serial",
    "I/O": "files",
    "missing": "measured",
}
_CLASSES = {"compute": "parallel", "communication": "comms", "barrier": "barrier", "serial": "serial", "output": "I/O"}


def times() -> "pd.DataFrame":
    """Seconds of the three jobs by section, as printed."""
    return tables.load("p5plus", "ifs_times")["time"].transpose("job", "section").to_pandas()[list(_COLOURS)]


def _split(run) -> "pd.DataFrame":
    """Seconds that a run of ``xc30-ranks`` spends in each section on its most ranks, medians, in one row."""
    last = int(np.argmax(run["ranks"].values))
    name = f"{figures.cpu(run)},\nspectral model, {plural(run['ranks'].values[last], 'rank')}"
    spent = {part: np.nanmedian(run[f"observed_{key}"].values[last]) for key, part in _CLASSES.items()}
    spent["missing"] = max(0.0, np.nanmedian(run["seconds"].values[last]) - sum(spent.values()))
    return pd.DataFrame(spent, index=[name])


@figures.styled
def shares(runs) -> "figures.Shown":
    """Where the time of three IFS jobs went, and that of a spectral model on ranks goes, in percent."""
    seconds = pd.concat([times(), *map(_split, runs)]).fillna(0.0)
    found, printed = seconds.mul(100 / seconds.sum(axis=1), axis=0), len(seconds) - len(runs)
    figure, axis = figures.axes(height=2.0 + 0.35 * len(found))
    place, ends = figures.rows(axis, found.index), found.cumsum(axis=1)
    for (section, share), colour in zip(found.items(), _COLOURS.values(), strict=True):
        drawn = axis.barh(
            place, share, left=ends[section] - share, height=0.62, label=section, **figures.hollow(colour)
        )
        for bar in drawn[printed:]:
            bar.set_facecolor(figures.meaning(colour))
    axis.set_xlabel("share of the elapsed time [%]")
    figures.legend(axis, "above 3")
    most = ", ".join(
        f"{job} {part} {found.loc[job, part]:.0f} %" for job, part in found[:printed].idxmax(axis=1).items()
    )
    today = found[printed:].rename_axis("job").reset_index().melt("job", var_name="section", value_name="share")
    data = pd.concat([tables.load("p5plus", "ifs_times").to_dataframe().reset_index(), today], ignore_index=True)
    return figures.show(
        figure,
        name="p5plus_ifs_times",
        run=runs[0],
        data=data.rename(columns={"wall": "wall [s]", "time": "time [s]", "share": "share [%]"}),
        title="Where the time of three jobs goes",
        caption="Shares of the elapsed time. Hollow: three jobs of IFS on Power5+, by printed times. Filled: the "
        "spectral model of chapter 5, of one layer, on ranks of one machine, of which one writes the surface height.",
        alt=f"Stacked bars, share of the elapsed time by section for three IFS jobs. Largest section of each: {most}.",
        tables="ifs_times",
    )


def scaled(run) -> str:
    """What a second rank does for the spectral model."""
    gain = figures.ratios(run, [0], [1]).iloc[0]
    assert gain["low"] > 1 and run["ranks"].values.tolist() == [1, 2]
    return (
        f"On machine {figures.cpu(run)} the model runs {gain['middle']:.1f} times as fast on two ranks as on one, by "
        f"medians; of single samples the extreme quotients are {gain['low']:.1f} and {gain['high']:.1f}."
    )
