"""How fast each family is to be beside other software, and how far the committed runs reach that.

``python -m peers.kit.goals`` prints it.  A goal stands in ``goals.csv``, for the ratio of the fastest samples and for
that of the medians alike: the lower of both counts.  How far it is met, the case that is furthest from it, that case's
limit, and the layouts that a faster peer had are computed from the committed peer records.  The column ``why`` says,
for a goal that is not met everywhere, what was measured that explains it; the page *Peers* shows it where a peer is
faster.
"""

import re
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from companion.figures.tabular import Table, significant
from companion.labels import plural
from companion.pages.data import listed
from companion.pages.peer_tables import pairs, sentence, time_text
from companion.records import peer_records


class _Goal(NamedTuple):
    """A ratio to reach against the fastest of some peers, or the seconds that a first call may take."""

    name: str
    module: str
    groups: str  # a pattern that the whole name of a group fits
    limit: float
    peers: str  # a pattern that a peer's name begins with
    labels: str  # a pattern that a case's label begins with
    percentile: str  # of the cases; empty where each of them is to reach the ratio
    why: str  # what holds it where it is not met


_ROWS = pd.read_csv(Path(__file__).with_name("goals.csv"), dtype=str, keep_default_na=False).astype({"limit": float})
_EVERY = list(map(_Goal._make, _ROWS.itertuples(index=False)))
#: In the order of the page; first calls are apart.
GOALS = [goal for goal in _EVERY if goal.module != "first_calls"]
#: A time of its own in older records, in which every first call had to wait for it.
_REGISTRIES = "numba's registries"


def _best(frame: pd.DataFrame, goal: _Goal) -> pd.DataFrame:
    """The pairs of a goal with the fastest of its peers, one a case; ``ratio`` is the lower of both ratios."""
    chosen = frame[
        (frame["module"] == goal.module)
        & frame["group"].str.fullmatch(goal.groups)
        & frame["peer"].str.match(goal.peers)
        & frame["label"].str.match(goal.labels)
        & np.isfinite(frame["ratio_fastest"])
    ]
    order = chosen.assign(ratio=chosen[["ratio_fastest", "ratio_median"]].min(axis=1)).sort_values(
        "ratio", kind="stable"
    )
    return order.drop_duplicates(["machine", "group", "label", "threads"])


def _layouts(below: pd.DataFrame) -> str:
    """How many of the cases below a goal SHTns won with its latitudes next to each other."""
    told = below[below["peer"].str.startswith("SHTns") & below["chosen"].str.contains("SHTns: ")]
    apart = int(told["chosen"].str.contains("SHTns: latitudes").sum())
    return f"SHTns's latitudes next to each other in {apart} of {plural(len(told), 'case')}" if len(told) else "–"


def _row(goal: _Goal, part: pd.DataFrame) -> dict:
    """What one number of threads of one machine gives of a goal."""
    ratios = part["ratio"]
    below = part[ratios < goal.limit]
    if not goal.percentile:
        met, said = below.empty, f"{len(part) - len(below)} of {len(part)}"
    else:
        value = float(np.percentile(ratios, int(goal.percentile)))
        met, said = value >= goal.limit, significant(value, 3)
    worst = part.loc[ratios.idxmin()]
    least = f"{significant(100 * worst['share'], 2)} %, {worst['limit']}" if np.isfinite(worst["share"]) else "–"
    return {
        "goal": goal.name,
        "to reach": significant(goal.limit, 3),
        "threads": str(worst["threads"]),
        "met": "yes" if met else "no",
        "reached": said,
        "lowest": significant(float(ratios.min()), 3),
        "median": significant(float(ratios.median()), 3),
        "lowest case": f"{worst['group']}: {worst['label']}; {worst['peer']}",
        "share and limit of it": least,
        "cases below it": _layouts(below),
    }


def _first(records) -> list[dict]:
    """The goals for first calls, by the newest record that has them."""
    told = [
        {row["label"]: row["fastest"] for row in record["rows"] if row["module"] == "first_calls"}
        for record in records  # oldest first
    ]
    calls: dict[str, float] = next(filter(None, reversed(told)), {})
    rows = []
    for goal in _EVERY[len(GOALS) :]:
        label = next((label for label in calls if re.match(goal.labels, label)), None)
        if label is None:
            continue
        before = calls.get(_REGISTRIES, 0.0)
        both = calls[label] + before
        rows.append(
            {
                "goal": goal.name,
                "to reach": f"at most {time_text(goal.limit)}",
                "threads": "1",
                "met": "yes" if both <= goal.limit else "no",
                "reached": time_text(both),
                "lowest": "–",
                "median": "–",
                "lowest case": f"{time_text(before)} of it {_REGISTRIES}" if before else "–",
                "share and limit of it": "–",
                "cases below it": "–",
            }
        )
    return rows


def goals_table(records) -> pd.DataFrame:
    """Every goal, by number of threads, as far as the committed records tell of it; empty if none does.

    Records without the ceilings of their host are older and are left out: they called some peers in slower ways.
    """
    records = [record for record in records if record.get("ceilings")]
    frame, rows = pairs(records), []
    if not frame.empty:
        several = frame["machine"].nunique() > 1
        for goal in GOALS:
            if _best(frame, goal).empty:
                rows.append({"goal": goal.name, "to reach": significant(goal.limit, 3), "met": "not measured"})
            for (where, _), part in _best(frame, goal).groupby(["machine", "threads"]):
                found = _row(goal, part)
                why = {"why": goal.why} if found["met"] == "no" else {}
                rows.append(found | ({"machine": where} if several else {}) | why)
    return pd.DataFrame(rows + _first(records))


def behind(records) -> Table:
    """Families in which a peer is faster in some case: the lowest ratios, and what was measured that explains them."""
    every = goals_table(records)
    if every.empty:
        return sentence("No committed run has measured the limits of its host, so nothing explains the ratios yet.")
    # of a family with goals for several percentiles the lowest ratio is the same: one row says it
    once = {(goal.module, goal.groups): goal.name for goal in reversed(_EVERY) if goal.percentile}
    reasons = {goal.name: goal.why for goal in _EVERY if not goal.percentile or goal.name in once.values()}
    found = every[(pd.to_numeric(every["lowest"], errors="coerce") < 1) & every["goal"].isin(list(reasons))]
    rows = []
    for name, part in found.groupby("goal", sort=False):
        lines = []
        for each in part.to_dict("records"):
            where = [each["machine"]] if isinstance(each.get("machine"), str) else []
            lines.append(f"{each['lowest']} ({', '.join([*where, plural(int(each['threads']), 'thread')])})")
        why = reasons[name] or "nothing yet"
        rows.append({"beside": name, "lowest ratio": "; ".join(lines), "what was measured": why})
    caption = "Families in which a peer is faster in some case, and what was measured that explains it"
    return listed(pd.DataFrame(rows), caption=caption, name="peers_behind")


if __name__ == "__main__":
    for row in goals_table(peer_records.committed()).fillna("").to_dict("records"):
        print("; ".join(f"{name}: {value}" for name, value in row.items() if value != ""))
