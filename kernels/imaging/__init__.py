"""Radio-interferometric imaging: the algorithms behind the Dirty Dozen Test of AIPS (1988).

``array`` and ``sky`` make visibilities, ``sorting`` orders them, ``gridding`` and ``dirty`` turn them
into images, ``clean`` and ``entropy`` deconvolve, ``selfcal`` finds the antennas' gains, ``direct`` predicts
visibilities, ``arithmetic`` does the rest; ``ddt`` runs the thirteen problems from file to file.

>>> from supercomputers_rerun.kernels.imaging import array, dirty, sky
>>> cell = 2.1e-6  # radians of a pixel
>>> records = sky.observe(array.tracks(6, 0.36 / cell), sky.synthetic(64, cell))  # float32 (2106, 8)
>>> image = dirty.dirty(records, 64, cell)  # float32, rows from south to north, Jy per beam
>>> image.shape, bool(abs(image - dirty.plain(records, cell, range(-32, 32), range(-32, 32))).max() < 1e-4)
((64, 64), True)
"""
