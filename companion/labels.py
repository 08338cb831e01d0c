"""Words for numbers of things, in labels of cases, figures and tables."""


def counted(number, noun: str) -> str:
    """``1 thread``, ``2 threads``."""
    return f"{int(number)} {noun}" if number == 1 else f"{int(number)} {noun}s"
