"""Numbers that come as texts, from a command line or the environment: one strict reading for all of them.

Python's own ``int`` and ``float`` also take ``1_000``, blanks around a number, digits of other scripts, ``nan`` and
``infinity``; a command that was meant otherwise would then run.
"""

import math
import re

_WHOLE = re.compile(r"[+-]?[0-9]{1,20}", re.ASCII)
_NUMBER = re.compile(r"[+-]?([0-9]{1,20}(\.[0-9]{0,20})?|\.[0-9]{1,20})([eE][+-]?[0-9]{1,3})?", re.ASCII)


def integer(text: str) -> int:
    """The whole number that ``text`` writes in at most twenty digits; ``ValueError`` for anything else."""
    if not _WHOLE.fullmatch(text):
        raise ValueError(f"{text!r} must be a whole number, written in at most 20 digits such as 1000")
    return int(text)


def number(text: str) -> float:
    """The finite number that ``text`` writes in decimal; ``ValueError`` for anything else."""
    value = float(text) if _NUMBER.fullmatch(text) else math.nan
    if not math.isfinite(value):
        raise ValueError(f"{text!r} must be a number, written in digits such as 1000, 0.5 or 1e-3")
    return value
