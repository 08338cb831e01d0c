"""The post-processing job: a write-up file in, fields on standard pressure levels out, packed.

Winds are averaged from the faces to the mass points; u, v, T, q and Φ are interpolated linearly in ln p from sigma
to pressure levels, and below the ground continued with the lowest level's value (T and Φ with 6.5 K/km); each row
is packed as 16-bit numbers with a reference value and a step, the form that archives take.
"""

import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from kernels.files.filesystem import direct_refusal, drop_cache
from kernels.gridpoint import writeup
from kernels.gridpoint.levels import GRAVITY, R, vertical
from kernels.runtime.atomic import atomic_write

#: Standard levels, Pa.
PRESSURES = np.array([1000, 850, 700, 500, 400, 300, 250, 200, 150, 100, 50], float) * 100
NAMES = ("u", "v", "T", "q", "phi")
LAPSE = 0.0065  # K/m, below the ground
ROWS = 24  # rows that a job holds which has to share its memory


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


def _below_ground(out, T, ps, levels) -> None:
    """Continue T and Φ, where ``out`` has them, below the lowest level along the standard lapse rate."""
    sigma = vertical(levels).full[-1]
    warm = T[:, -1]
    for n, pressure in enumerate(PRESSURES if out.keys() & {"T", "phi"} else ()):
        deep = pressure > sigma * ps
        depth = R * warm / GRAVITY * np.log(np.maximum(pressure / (sigma * ps), 1.0))  # m, downwards
        if "T" in out:
            out["T"][:, n] = np.where(deep, warm + LAPSE * depth, out["T"][:, n])
        if "phi" in out:
            out["phi"][:, n] = np.where(deep, out["phi"][:, n] - GRAVITY * depth, out["phi"][:, n])


def convert(fields, v_north, levels: int, names=NAMES) -> dict[str, np.ndarray]:
    """Rows at pressure levels; ``v_north`` (rows, levels, ni) is v on the rows' north faces."""
    given = {
        "u": lambda: 0.5 * (fields["u"] + np.roll(fields["u"], 1, -1)),
        "v": lambda: 0.5 * (fields["v"] + v_north),
        "T": lambda: fields["T"],
        "q": lambda: fields["q"],
        "phi": lambda: fields["phis"][:, None] + np.einsum("kl,jli->jki", vertical(levels).gamma, fields["T"]),
    }
    out = {name: to_pressure(given[name](), fields["ps"], levels) for name in names}
    _below_ground(out, fields["T"], fields["ps"], levels)
    return out


def _form(ni: int) -> np.dtype:
    """A row of a field as it is packed: reference value, step, and 16-bit numbers."""
    return np.dtype([("low", "<f8"), ("step", "<f8"), ("numbers", "<u2", ni)])


def pack(fields: np.ndarray) -> bytes:
    """The rows of ``fields`` (…, ni), each with a reference value and a step of its own."""
    low, high = fields.min(-1, keepdims=True), fields.max(-1, keepdims=True)
    step = (high - low) / 65535
    step[step == 0.0] = 1.0
    packed = np.empty(fields.shape[:-1], _form(fields.shape[-1]))
    packed["low"], packed["step"] = low[..., 0], step[..., 0]
    packed["numbers"] = np.round((fields - low) / step)
    return packed.tobytes()


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


def run(path, target=None, small: bool = False, device: bool = False) -> dict[str, float]:
    """Post-process one write-up file: clock and CPU time, begin and end on the clock in seconds, and bytes written.

    With ``small`` the job holds ``ROWS`` rows at a time, and the next, since winds are averaged over two rows; it reads
    them anew for each field, with ``device`` past the page cache where the file system allows that.  With ``device``
    a job reads what the device has if the file was written with ``fsync``, and waits until the device has its output.
    ``OSError``: a missing or damaged file, or a target that cannot be written; nothing is left behind then.
    """
    _, header = writeup.read(path, 0, 1)
    nj, levels, into = header["nj"], header["levels"], None
    if small and device and not direct_refusal(Path(path).parent):
        into = writeup.room(ROWS + 1, header["ni"], levels)
    with timed(path, target, device) as (out, found):
        for first in range(0, nj, ROWS) if small else (0,):
            made, count = {}, min(ROWS, nj - first) if small else nj
            for names in ((name,) for name in NAMES) if small else (NAMES,):
                fields, _ = writeup.read(path, first, first + ROWS + 1 if small else None, into)
                north = np.concatenate([fields["v"][1:], np.zeros_like(fields["v"][:1])])[:count]
                made |= convert({name: field[:count] for name, field in fields.items()}, north, levels, names)
            out.write(pack(np.stack([made[name] for name in NAMES], 1)))
    return found
