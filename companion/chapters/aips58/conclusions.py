"""The section *Which of the memo's conclusions hold?*: the memo's words, its tables, and today's runs."""

import numpy as np

from companion import figures, tables
from companion.chapters.aips58 import common, gains, gather, messages, users, waits
from companion.common import pd


def table() -> "figures.Table":
    """The memo's conclusions: as it words them in numbers, what its tables give, and medians and intervals of runs.

    The runs are the newest of the machine that the prose names.
    """
    test, loads, cleans, moved, load = (
        experiment.runs()[0] for experiment in (gains.test, users.load, gather.cleans, waits.habits, messages.load)
    )
    cpu, real = ({system: common.ddt()[kind].sel(system=system, drop=True) for system in common.SYSTEMS}
                 for kind in common.KINDS)  # fmt: skip
    facts, typical = tables.load("aips58", "prose"), common.typical
    gain, waited = real["NRAO1"] / real["CLSC"], real["PSC"] / real["NRAO1"]
    share = float((cpu["CLSC"] / real["CLSC"]).sel(size="large").median())
    convex = real["NRAO1"].sel(size="large", problem=test["task"].values[test["size"].values == "large"]).values
    gained = convex[:, None] / test["observed_real"].values[test["size"].values == "large"]
    busy, shares = loads["beside"].values > 0, waits.shares(moved)
    in_memory, files = waits.ways(moved)

    def over(run, kind: str, column: str, above: str, below: str) -> str:
        return typical(*(run[f"observed_{kind}"].values[run[column].values == each] for each in (above, below)))

    rows = [
        ("CPU time, slow handling of files over quick: most", f">= {float(facts['cpu_factor']):.0f}",
         float((cpu["PSC"] / cpu["CLSC"]).max()), over(load, "cpu", "way", "late", "reopened")),
        ("real time, Convex over X-MP: best", f"~ {float(facts['real_best']):.0f}", float(gain.max()),
         typical(gained[[np.nanmedian(gained, axis=1).argmax()]])),
        ("real time, Convex over X-MP: typical", f"{float(facts['real_typical_least']):.0f} to "
         f"{float(facts['real_typical_most']):.0f}", float(gain.median()), typical(gained)),
        ("real time, shared X-MP over the Convex; today shared over alone", "no better than 1",
         float(waited.median()), typical(*(loads["observed_real"].values[of] for of in (busy, ~busy)))),
        ("CPU time of CLEAN, gather by software over by hardware", "> 1 expected",
         float(gather.old_ratios()[1].median()), over(cleans, "cpu", "method", "scalar", "gather")),
        ("CPU over real time, large problems: data in memory", "", float("nan"), typical(shares[in_memory])),
        ("CPU over real time, large problems: through files", "", share, typical(shares[files])),
    ]  # fmt: skip
    of = figures.cpu(test)
    return figures.table(
        pd.DataFrame(rows, columns=["conclusion", "memo", "its tables", of]),
        digits=3,
        index=False,
        name="aips58_conclusions",
        caption=f"Conclusions of the memo, its tables, and the runs of {of}. Medians with 95 % intervals.",
    )
