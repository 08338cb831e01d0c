"""Factors as one says them aloud."""

_COUNTED = ("three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve")


def about(factor: float) -> str:
    """``about twice``, ``about nine times``, ``about 140 times``; of a factor below 1.5 ``1.2 times``."""
    whole = round(factor)
    if whole < 2:
        return f"{factor:.2g} times"
    if whole == 2:
        return "about twice"
    said = _COUNTED[whole - 3] if whole < 13 else f"{float(f'{factor:.2g}'):.0f}"
    return f"about {said} times"
