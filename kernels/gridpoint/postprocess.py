"""The post-processing job: a write-up file in, fields on standard pressure levels out, packed.

Winds are averaged from the faces to the mass points; u, v, T, q and Φ are interpolated linearly in ln p from sigma
to pressure levels, and below the ground continued with the lowest level's value (T and Φ with 6.5 K/km); each row
is packed as 16-bit numbers with a reference value and a step, the form that archives take.
"""

import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from supercomputers_rerun.kernels.files.filesystem import direct_refusal, drop_cache
from supercomputers_rerun.kernels.gridpoint import writeup
from supercomputers_rerun.kernels.gridpoint.levels import GRAVITY, R, vertical
from supercomputers_rerun.kernels.runtime.atomic import atomic_write

#: Standard levels, Pa.
PRESSURES = np.array([1000, 850, 700, 500, 400, 300, 250, 200, 150, 100, 50], float) * 100
NAMES = ("u", "v", "T", "q", "phi")
LAPSE = 0.0065  # K/m, below the ground
ROWS = 24  # rows of a write-up that a job of small memory reads at once


def to_pressure(field: np.ndarray, ps: np.ndarray, levels: int) -> np.ndarray:
    """``field`` (rows, levels, ni) at PRESSURES, linear in ln p; constant beyond the top and the lowest level."""
    log = np.log(vertical(levels).full)
    out = np.empty((len(field), len(PRESSURES), field.shape[-1]))
    for n, pressure in enumerate(PRESSURES):
        x = np.log(pressure / ps)  # ln σ of the surface
        at = np.clip(np.searchsorted(log, x) - 1, 0, levels - 2)
        part = np.clip((x - log[at]) / (log[at + 1] - log[at]), 0.0, 1.0)
        low = np.take_along_axis(field, at[:, None], 1)[:, 0]
        high = np.take_along_axis(field, at[:, None] + 1, 1)[:, 0]
        out[:, n] = low + part * (high - low)
    return out


def _below_ground(out, fields, levels) -> None:
    """Continue T and Φ, where ``out`` has them, below the lowest level along the standard lapse rate."""
    ps, sigma = fields["ps"], vertical(levels).full[-1]
    for n, pressure in enumerate(PRESSURES if out.keys() & {"T", "phi"} else ()):
        warm = fields["T"][:, -1]
        deep = pressure > sigma * ps
        depth = R * warm / GRAVITY * np.log(np.maximum(pressure / (sigma * ps), 1.0))  # m, downwards
        if "T" in out:
            out["T"][:, n] = np.where(deep, warm + LAPSE * depth, out["T"][:, n])
        if "phi" in out:
            out["phi"][:, n] = np.where(deep, out["phi"][:, n] - GRAVITY * depth, out["phi"][:, n])


def convert(fields, levels: int, names=NAMES) -> dict[str, np.ndarray]:
    """All rows at pressure levels; ``fields`` has what ``names`` are made of."""
    given = {
        "u": lambda: 0.5 * (fields["u"] + np.roll(fields["u"], 1, -1)),
        "v": lambda: 0.5 * (fields["v"] + np.concatenate([fields["v"][1:], np.zeros_like(fields["v"][:1])])),
        "T": lambda: fields["T"],
        "q": lambda: fields["q"],
        "phi": lambda: fields["phis"][:, None] + np.einsum("kl,jli->jki", vertical(levels).gamma, fields["T"]),
    }
    out = {name: to_pressure(given[name](), fields["ps"], levels) for name in names}
    _below_ground(out, fields, levels)
    return out


def _form(ni: int) -> np.dtype:
    """A row of a field as it is packed: reference value, step, and 16-bit numbers."""
    return np.dtype([("low", "<f8"), ("step", "<f8"), ("numbers", "<u2", ni)])


def pack(fields: np.ndarray) -> np.ndarray:
    """The rows of ``fields`` (…, ni), each with a reference value and a step of its own, as ``_form`` has them."""
    low, high = fields.min(-1, keepdims=True), fields.max(-1, keepdims=True)
    step = (high - low) / 65535
    step[step == 0.0] = 1.0
    packed = np.empty(fields.shape[:-1], _form(fields.shape[-1]))
    packed["low"], packed["step"] = low[..., 0], step[..., 0]
    packed["numbers"] = np.round((fields - low) / step)
    return packed


def packed_bytes(problem) -> int:
    """Bytes of what a job writes for one write-up of ``problem``."""
    return problem.nj * len(NAMES) * len(PRESSURES) * _form(problem.ni).itemsize


@contextmanager
def timed(path, target, device: bool):
    """The open output of a job on the write-up ``path``, and a dictionary that has its times at the end."""
    path, found = Path(path), {}
    if device:
        drop_cache(path)
    begin, cpu = time.perf_counter(), time.process_time()
    with atomic_write(target or path.with_name(path.name + ".packed"), fsync=device) as part, open(part, "wb") as out:
        yield out, found
        found["bytes"] = out.tell()
    end = time.perf_counter()
    found.update(clock=end - begin, cpu=time.process_time() - cpu, begin=begin, end=end)


def _parts(path, name: str, rows: int, into) -> dict[str, np.ndarray]:
    """What the field ``name`` is made of, from a pass over a write-up of as many ``rows``, ``ROWS`` at a time."""
    found: dict[str, np.ndarray] = {}
    for first in range(0, rows, ROWS):
        fields, _ = writeup.read(path, first, first + ROWS, into)
        for part in ("ps", *{"phi": ("phis", "T")}.get(name, (name,))):
            found.setdefault(part, np.empty((rows, *fields[part].shape[1:])))[first : first + ROWS] = fields[part]
    return found


def run(path, target=None, small: bool = False, device: bool = False) -> dict[str, float]:
    """Post-process one write-up file: clock and CPU time, begin and end on the clock in seconds, and bytes written.

    With ``small`` the job holds one field at a time and reads the whole file anew for each, with ``device`` past the
    page cache where the file system allows that.  With ``device`` a job reads what the device has if the file was
    written with ``fsync``, and waits until the device has its output.
    ``OSError``: a missing or damaged file, or a target that cannot be written; nothing is left behind then.
    """
    _, header = writeup.read(path, 0, 1)
    levels, direct = header["levels"], small and device and not direct_refusal(Path(path).parent)
    into = writeup.room(ROWS, header["ni"], levels) if direct else None
    with timed(path, target, device) as (out, found):
        packed = []
        for names in ((name,) for name in NAMES) if small else (NAMES,):
            fields = _parts(path, names[0], header["nj"], into) if small else writeup.read(path)[0]
            packed.append(pack(np.stack([*convert(fields, levels, names).values()], 1)))
        out.write(np.concatenate(packed, 1).tobytes())
    return found
