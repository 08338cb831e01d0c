"""What several sections share: the small model at the talk's resolutions, rates of cases of one kind."""

from dataclasses import replace

from supercomputers_rerun.companion import figures


def named(name: str, part: int, steps: int):
    """A resolution of the talk, its truncation and rows divided by ``part``, cut to a few steps."""
    from supercomputers_rerun.kernels import shallow_water

    full = shallow_water.Problem.preset(name)
    rows, dt = int(full.grid[1:]) // part, part * full.dt
    grid = f"{full.grid[0]}{rows}"
    return replace(full, truncation=full.truncation // part, grid=grid, dt=dt, hours=steps * dt / 3600.0)


def rates(run, what: str, *names: str, scale: float = 1e9):
    """Cases of one kind with their coordinates ``names``, and their ``rate`` in ``scale`` flop/s with its spread."""
    frame = figures.cases(run, "what", *names)
    frame = frame[frame["what"] == what]
    found = figures.quantities(frame, rate=lambda seconds: frame["flops"] / seconds / scale)
    return found[[*names, "threads", "rate", "rate_low", "rate_high", "flagged"]]


def with_own(runs) -> list:
    """The first run and the reader's own: what can draw few rows draws these."""
    return [runs[0], *(run for run in runs[1:] if "own" in run.attrs)]
