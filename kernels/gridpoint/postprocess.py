"""The post-processing job: a write-up file in, fields on standard pressure levels out, packed.

Winds are averaged from the faces to the mass points; u, v, T, q and Φ are interpolated linearly in ln p from sigma
to pressure levels, and below the ground continued with the lowest level's value (T and Φ with 6.5 K/km); each
level is packed as 16-bit numbers with a reference value and a step, the form that archives take.

``run`` reads the whole file; with ``small`` it holds few rows at a time, the way of a job that has to share its memory:
of every group it reads the next row as well, since winds are averaged over two rows.
"""

import struct
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from kernels.files.filesystem import drop_cache
from kernels.gridpoint import writeup
from kernels.gridpoint.levels import GRAVITY, R, vertical
from kernels.runtime.atomic import atomic_write

#: Standard levels, Pa.
PRESSURES = np.array([1000, 850, 700, 500, 400, 300, 250, 200, 150, 100, 50], float) * 100
NAMES = ("u", "v", "T", "q", "phi")
LAPSE = 0.0065  # K/m, below the ground
ROWS = 8  # rows that a job holds which has to share its memory


def geopotential(T: np.ndarray, phis: np.ndarray, levels: int) -> np.ndarray:
    """Φ of the levels, m²/s², of T (rows, levels, ni) and Φ_s (rows, ni)."""
    return phis[:, None] + np.einsum("kl,jli->jki", vertical(levels).gamma, T)


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
    """Continue T and Φ below the lowest level along the standard lapse rate."""
    sigma = vertical(levels).full[-1]
    warm = T[:, -1]
    for n, pressure in enumerate(PRESSURES):
        deep = pressure > sigma * ps
        depth = R * warm / GRAVITY * np.log(np.maximum(pressure / (sigma * ps), 1.0))  # m, downwards
        out["T"][:, n] = np.where(deep, warm + LAPSE * depth, out["T"][:, n])
        out["phi"][:, n] = np.where(deep, out["phi"][:, n] - GRAVITY * depth, out["phi"][:, n])


def convert(fields, v_north, levels: int) -> dict[str, np.ndarray]:
    """Rows at pressure levels; ``v_north`` (rows, levels, ni) is v on the rows' north faces."""
    u = 0.5 * (fields["u"] + np.roll(fields["u"], 1, -1))
    v = 0.5 * (fields["v"] + v_north)
    phi = geopotential(fields["T"], fields["phis"], levels)
    given = {"u": u, "v": v, "T": fields["T"], "q": fields["q"], "phi": phi}
    out = {name: to_pressure(array, fields["ps"], levels) for name, array in given.items()}
    _below_ground(out, fields["T"], fields["ps"], levels)
    return out


def pack(fields: np.ndarray) -> bytes:
    """Of each row of ``fields`` (…, n): reference value, step (float64), then 16-bit numbers."""
    low, high = fields.min(-1, keepdims=True), fields.max(-1, keepdims=True)
    step = (high - low) / 65535
    step[step == 0.0] = 1.0
    packed = np.empty(fields.shape[:-1], [("low", "<f8"), ("step", "<f8"), ("numbers", "<u2", fields.shape[-1])])
    packed["low"], packed["step"] = low[..., 0], step[..., 0]
    packed["numbers"] = np.round((fields - low) / step)
    return packed.tobytes()


def unpack(data: bytes, shape) -> np.ndarray:
    """What ``pack`` packed of one field, to half a step."""
    low, step = struct.unpack_from("<dd", data)
    return low + step * np.frombuffer(data, "<u2", offset=16).reshape(shape)


def packed_bytes(problem, whole: bool = False) -> int:
    """Bytes of what a job writes for one write-up of ``problem``: row by row, or less of the ``whole``."""
    return len(NAMES) * len(PRESSURES) * ((1 if whole else problem.nj) * 16 + 2 * problem.ni * problem.nj)


def _convert_at_once(path, out) -> None:
    fields, header = writeup.read(path)
    north = np.concatenate([fields["v"][1:], np.zeros_like(fields["v"][:1])])
    levels = convert(fields, north, header["levels"])
    for name in NAMES:
        for n in range(len(PRESSURES)):
            out.write(pack(levels[name][:, n].reshape(-1)))


def _by_rows(path, out) -> None:
    header = np.fromfile(path, np.float64, writeup.HEADER)
    if header.size != writeup.HEADER or header[0] != writeup.MAGIC:
        raise OSError(f"{path} is not a write-up file; give one that a forecast wrote")
    ni, nj, levels = (int(value) for value in header[2:5])
    words = writeup.row_words(ni, levels)

    def rows(first: int, end: int) -> dict[str, np.ndarray]:
        data = np.fromfile(path, np.float64, words * (end - first), offset=8 * (writeup.HEADER + first * words))
        if data.size != words * (end - first):
            raise OSError(f"rows {first} to {end - 1} of {path} are missing: it was cut off; use another")
        return writeup.fields_of(data.reshape(end - first, words), ni, levels)

    for first in range(0, nj, ROWS):
        end = min(first + ROWS, nj)
        here = rows(first, end)
        last = rows(end, end + 1)["v"] if end < nj else np.zeros_like(here["v"][:1])
        found = convert(here, np.concatenate([here["v"][1:], last]), levels)
        out.write(pack(np.stack([found[name] for name in NAMES], 1)))


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

    With ``device`` the job reads what the device has, past the page cache if the file was written with ``fsync``, and
    waits until the device has its output. ``OSError``: a missing or damaged file, or a target that cannot be written;
    nothing is left behind then.
    """
    with timed(path, target, device) as (out, found):
        (_by_rows if small else _convert_at_once)(Path(path), out)
    return found
