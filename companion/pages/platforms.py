"""Where the lock resolves, and what ran there: ``data/platforms.csv``, which ``tests/platforms.py`` writes."""

from pathlib import Path

import pandas as pd

from companion.figures.tabular import Table, table

_KEPT = Path(__file__).resolve().parents[2] / "data" / "platforms.csv"


def platforms_table() -> Table:
    """One system a row: Pythons for which all packages of the lock have wheels, and what was tried how and when."""
    frame = pd.read_csv(_KEPT, dtype=str, keep_default_na=False)
    rows = []
    for system, group in frame.groupby("system", sort=False):
        lock = {word: ", ".join(group.loc[group["lock"] == word, "python"]) for word in ("yes", "no", "unknown")}
        lacking = ", ".join(dict.fromkeys(filter(None, group["lacks"])))
        rows.append(
            {
                "system": system,
                "Pythons with all packages": lock["yes"]
                or ("not asked" if lock["unknown"] else f"none: {lacking} has no wheel"),
                **{
                    words: "; ".join(dict.fromkeys(each for cell in group[name] for each in cell.split("; ") if each))
                    or "not tried"
                    for name, words in (("kernels", "tests"), ("book", "book"), ("tried", "what was done"))
                },
                "date": max(group["date"]),
            }
        )
    caption = "Systems: the versions of Python for which every locked package has a wheel, and what ran there"
    return table(pd.DataFrame(rows), name="platforms", caption=caption, index=False)
