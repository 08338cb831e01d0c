"""Visibilities written as a measurement set, the form that today's imagers read; needs python-casacore.

None is read: a folder's ``table.dat`` may name storage managers that casacore loads as libraries, expressions that it
evaluates, locks that it waits for, and other tables.

The made sky is a plane: V(u, v) does not depend on w.  So W is written as zero, and an imager that corrects
for w has nothing to correct.  Lengths are stored in metres at :data:`kernels.imaging.fits.FREQUENCY`, with the
sign changed: a measurement set takes a baseline from its first antenna to its second, UVFITS the other way.
"""

import os
import shutil
from pathlib import Path

import numpy as np

from kernels.imaging.array import ANTENNAS, IM, RE, TIME, WEIGHT, U, V, antennas, require_records
from kernels.imaging.fits import DAY, FREQUENCY
from kernels.imaging.sky import antenna_numbers
from kernels.runtime.resources import require_disk

LIGHT = 299_792_458.0  # m/s
#: Right ascension and declination of the middle, radians; ``fits`` writes the same.
MIDDLE = (0.0, float(np.radians(40.0)))
#: Metres of an arm of the array, of a dish; an imager shows them and computes nothing from them here.
ARM, DISH = 21_000.0, 25.0
_STOKES_I = 1
_DAY_0 = 2_400_000.5  # Julian date of the day from which measurement sets count seconds


def _casacore():
    try:
        from casacore import tables
    except ImportError as error:
        raise RuntimeError("measurement sets need python-casacore, which is not installed") from error
    return tables


def _fill(table, rows: int, columns: dict) -> None:
    if rows:
        table.addrows(rows)
    for name, values in columns.items():
        table.putcol(name, values)


def _main_columns(records: np.ndarray) -> dict:
    count = len(records)
    first, second = antenna_numbers(records)
    uvw = np.zeros((count, 3))
    uvw[:, :2] = records[:, [U, V]] * (-LIGHT / FREQUENCY)
    seconds = (records[:, TIME].astype(np.float64) + DAY - _DAY_0) * 86400
    weight = np.maximum(records[:, WEIGHT, None], 0)
    flagged = weight <= 0
    whole = ("FIELD_ID", "DATA_DESC_ID", "ARRAY_ID", "FEED1", "FEED2", "PROCESSOR_ID", "SCAN_NUMBER", "STATE_ID")
    return {
        "ANTENNA1": first,
        "ANTENNA2": second,
        "UVW": uvw,
        "TIME": seconds,
        "TIME_CENTROID": seconds,
        "INTERVAL": np.ones(count),
        "EXPOSURE": np.ones(count),
        "DATA": (records[:, RE] + 1j * records[:, IM]).astype(np.complex64).reshape(count, 1, 1),
        "FLAG": flagged.reshape(count, 1, 1),
        "FLAG_ROW": flagged[:, 0],
        "WEIGHT": weight,
        "SIGMA": 1 / np.sqrt(np.where(flagged, 1, weight)),
        **{name: np.zeros(count, np.int32) for name in (*whole, "OBSERVATION_ID")},
    }


def _subtables(name: str) -> dict[str, tuple[int, dict]]:
    """Rows and columns of the tables beside the main one."""
    direction = np.array(MIDDLE).reshape(1, 1, 2)
    one = np.ones((1, 1))
    return {
        "ANTENNA": (
            ANTENNAS,
            {
                "NAME": [f"A{number + 1}" for number in range(ANTENNAS)],
                "STATION": [f"S{number + 1}" for number in range(ANTENNAS)],
                "TYPE": ["GROUND-BASED"] * ANTENNAS,
                "MOUNT": ["ALT-AZ"] * ANTENNAS,
                "POSITION": antennas() * ARM,
                "DISH_DIAMETER": np.full(ANTENNAS, DISH),
            },
        ),
        "FIELD": (1, {"NAME": [name], "DELAY_DIR": direction, "PHASE_DIR": direction, "REFERENCE_DIR": direction}),
        "SPECTRAL_WINDOW": (
            1,
            {
                "NUM_CHAN": np.ones(1, np.int32),
                "REF_FREQUENCY": np.full(1, FREQUENCY),
                "CHAN_FREQ": FREQUENCY * one,
                "CHAN_WIDTH": 1e6 * one,
                "EFFECTIVE_BW": 1e6 * one,
                "RESOLUTION": 1e6 * one,
                "TOTAL_BANDWIDTH": np.full(1, 1e6),
                "NAME": ["one channel"],
            },
        ),
        "POLARIZATION": (
            1,
            {
                "NUM_CORR": np.ones(1, np.int32),
                "CORR_TYPE": np.full((1, 1), _STOKES_I, np.int32),
                "CORR_PRODUCT": np.zeros((1, 1, 2), np.int32),
            },
        ),
        "DATA_DESCRIPTION": (
            1,
            {"SPECTRAL_WINDOW_ID": np.zeros(1, np.int32), "POLARIZATION_ID": np.zeros(1, np.int32)},
        ),
        "OBSERVATION": (1, {"TELESCOPE_NAME": ["VLA"], "OBSERVER": [""], "PROJECT": [name]}),
    }


def write(path, records: np.ndarray, name: str = "DDT") -> None:
    """Records, float32 (n, 8), as a new measurement set, a folder of tables.

    ``RuntimeError`` where python-casacore is not installed. ``ValueError``: what
    :func:`kernels.imaging.array.require_records` refuses. ``FileExistsError`` where there is something at ``path``.
    ``OSError`` where the folder cannot take it.
    """
    tables = _casacore()
    require_records(records)
    path = Path(path)
    if os.path.lexists(path):
        raise FileExistsError(f"{path.name} exists; name another measurement set or remove it")
    require_disk(path.parent, 160 * len(records) + 2**21, f"measurement set {path.name}")
    try:
        data = tables.maketabdesc(tables.makearrcoldesc("DATA", 0j, valuetype="complex", ndim=2))
        with tables.default_ms(str(path), data) as main:
            _fill(main, len(records), _main_columns(records))
        for table, (rows, columns) in _subtables(name).items():
            with tables.table(f"{path}::{table}", readonly=False, ack=False) as part:
                _fill(part, rows, columns)
    except BaseException:
        shutil.rmtree(path, ignore_errors=True)
        raise
