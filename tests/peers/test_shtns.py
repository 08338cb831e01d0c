"""SHTns in each of its layouts, against a library made up here that only moves numbers about."""

import ctypes

import numpy as np
import pytest

from supercomputers_rerun.peers import _shtns

SHAPE = _shtns.Shape(truncation=7, rows=4, columns=6, fields=3)
PAD = 2


class Library:
    """Layouts as SHTns's documentation has them; a synthesis counts points, an analysis copies the first ones."""

    def __init__(self):
        self.kept, self.many, self.threads, self.calls = [], 1, [], 0

    def shtns_use_threads(self, threads):
        self.threads.append(threads)

    def shtns_create(self, lmax, mmax, mres, norm):
        self.info = _shtns._Info(nlm=(lmax + 1) * (lmax + 2) // 2, lmax=lmax)
        return ctypes.addressof(self.info)

    def shtns_set_many(self, config, fields, distance):
        self.many = fields

    def shtns_set_grid(self, config, flags, accuracy, rows, columns):
        self.by_longitude = bool(flags & _shtns._PHI)
        self.padded = rows + (PAD if flags & _shtns._PADDED else 0)
        self.info.nlat_padded = self.padded
        self.info.nspat = self.many * columns * self.padded

    def shtns_malloc(self, size):
        self.kept.append(ctypes.create_string_buffer(size))
        return ctypes.addressof(self.kept[-1])

    def shtns_free(self, address):
        self.kept = [each for each in self.kept if ctypes.addressof(each) != address]

    def shtns_destroy(self, config):
        self.info = None

    def grids(self, address):
        """Each field as (rows, columns), views of what lies at ``address``."""
        size = SHAPE.columns * self.padded
        flat = np.frombuffer((ctypes.c_double * (self.many * size)).from_address(address))
        for n in range(self.many):
            part = flat[n * size : (n + 1) * size]
            if self.by_longitude:
                yield part.reshape(SHAPE.rows, SHAPE.columns)
            else:
                yield part.reshape(SHAPE.columns, self.padded).T[: SHAPE.rows]

    def SH_to_spat(self, config, spectrum, grid):
        self.calls += 1
        coefficients = np.frombuffer((ctypes.c_double * (2 * self.many * self.info.nlm)).from_address(spectrum))
        for n, field in enumerate(self.grids(grid)):
            first = coefficients[2 * n * self.info.nlm]
            field[:] = first + np.arange(SHAPE.rows * SHAPE.columns).reshape(SHAPE.rows, SHAPE.columns)

    def spat_to_SH(self, config, grid, spectrum):
        self.calls += 1
        size = 2 * self.info.nlm
        coefficients = np.frombuffer((ctypes.c_double * (self.many * size)).from_address(spectrum))
        for n, field in enumerate(self.grids(grid)):
            coefficients[n * size : n * size + 24] = field.ravel()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("layout", _shtns.LAYOUTS)
def test_every_layout_gives_rows_in_our_order(layout, threads):
    apart = threads > 1 and not _shtns.LAYOUTS[layout][1]
    way = _shtns.Way(Library(), SHAPE, layout, threads, apart)
    way.spectrum[:, 0] = 100.0 * np.arange(1, SHAPE.fields + 1)
    wanted = 100.0 * np.arange(1, SHAPE.fields + 1)[:, None] + np.arange(24)
    np.testing.assert_array_equal(way.inverse()(), wanted)
    way.put(0.0, wanted + 0.5)
    found = way.direct()()
    np.testing.assert_array_equal(found.view(float)[:, :24], wanted + 0.5)
    assert way.library.calls == (2 if way.together else 2 * SHAPE.fields)
    assert way.library.threads == [1 if apart else threads]
    way.close()
    assert way.library.kept == [] and way.library.info is None
