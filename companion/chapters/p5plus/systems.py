"""The section *What made the forecast faster?*: printed gains."""

from companion import tables


def faster() -> str:
    """The ten-day forecast on the old and on the new system, on as many processors of the same clock."""
    found = tables.load("p5plus", "p4_p5")
    old, new = (float(found["wall"].sel(system=name)) for name in ("P4+", "P5+"))
    return (
        f"On {int(found['cpus'][0])} processors of the same clock the ten-day forecast took {old:.0f} s on Power4+ and "
        f"{new:.0f} s on Power5+, {old / new:.2f} times as fast."
    )
