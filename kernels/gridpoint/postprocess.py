"""The post-processing job: a write-up file in, fields on standard pressure levels out, packed.

Winds are averaged from the faces to the mass points; u, v, T, q and Φ are interpolated linearly in ln p from sigma
to pressure levels, and below the ground continued with the lowest level's value (T and Φ with 6.5 K/km); each
level is packed as 16-bit numbers with a reference value and a step, the form that archives take.

``run`` reads the whole file; with ``small`` it holds one row at a time and reads and writes row by row, the way
of a job that has to share its memory.
"""

import os
import struct
import time
from pathlib import Path

import numpy as np

from kernels.files.pending import Pending
from kernels.gridpoint import writeup
from kernels.gridpoint.levels import GRAVITY, R, vertical

#: Standard levels, Pa.
PRESSURES = np.array([1000, 850, 700, 500, 400, 300, 250, 200, 150, 100, 50], float) * 100
NAMES = ("u", "v", "T", "q", "phi")
LAPSE = 0.0065  # K/m, below the ground


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


def _below_ground(out, T, phis, ps, levels) -> None:
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
    _below_ground(out, fields["T"], fields["phis"], fields["ps"], levels)
    return out


def pack(field: np.ndarray) -> bytes:
    """Reference value, step (float64), then 16-bit numbers."""
    low, high = float(field.min()), float(field.max())
    step = (high - low) / 65535 or 1.0
    return struct.pack("<dd", low, step) + np.round((field - low) / step).astype("<u2").tobytes()


def unpack(data: bytes, shape) -> np.ndarray:
    """What ``pack`` packed, to half a step."""
    low, step = struct.unpack_from("<dd", data)
    return low + step * np.frombuffer(data, "<u2", offset=16).reshape(shape)


def packed_bytes(problem) -> int:
    """Bytes of what a job writes for one write-up of ``problem``, row by row (the whole takes less)."""
    return len(NAMES) * len(PRESSURES) * problem.nj * (16 + 2 * problem.ni)


def _whole(path, out) -> None:
    fields, header = writeup.read(path)
    north = np.concatenate([fields["v"][1:], np.zeros_like(fields["v"][:1])])
    levels = convert(fields, north, header["levels"])
    for name in NAMES:
        for n in range(len(PRESSURES)):
            out.write(pack(levels[name][:, n]))


def _row(handle, j: int, ni: int, levels: int) -> dict[str, np.ndarray]:
    words = writeup.row_words(ni, levels)
    data = np.frombuffer(os.pread(handle, 8 * words, 8 * (writeup.HEADER + j * words)))
    if data.size != words:
        raise OSError(f"row {j} of the write-up file is missing: it was cut off; use another")
    fields, at = {}, 0
    for name in writeup.NAMES:
        fields[name] = data[at : at + levels * ni].reshape(1, levels, ni)
        at += levels * ni
    for name in writeup.LINES:
        fields[name] = data[at : at + ni].reshape(1, ni)
        at += ni
    return fields


def _by_rows(path, out) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        header = np.frombuffer(os.pread(handle, 8 * writeup.HEADER, 0))
        if header.size != writeup.HEADER or header[0] != writeup.MAGIC:
            raise OSError(f"{path} is not a write-up file; give one that a forecast wrote")
        ni, nj, levels = (int(value) for value in header[2:5])
        for j in range(nj):
            here = _row(handle, j, ni, levels)
            north = _row(handle, j + 1, ni, levels)["v"] if j + 1 < nj else np.zeros_like(here["v"])
            found = convert(here, north, levels)
            out.write(b"".join(pack(found[name][:, n]) for name in NAMES for n in range(len(PRESSURES))))
    finally:
        os.close(handle)


def run(path, target=None, small: bool = False) -> dict[str, float]:
    """Post-process one write-up file; CPU and clock in seconds, and bytes written.

    Raises
    ------
    OSError
        A missing or damaged file, or a target that cannot be written; nothing is left behind then.
    """
    path = Path(path)
    clock, cpu = time.perf_counter(), time.process_time()
    with Pending(target or path.with_name(path.name + ".packed")) as pending:
        with open(pending.part, "wb") as out:
            (_by_rows if small else _whole)(path, out)
            size = out.tell()
        pending.commit()
    return {"clock": time.perf_counter() - clock, "cpu": time.process_time() - cpu, "bytes": size}
