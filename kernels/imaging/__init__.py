"""Radio-interferometric imaging: the algorithms behind the Dirty Dozen Test of AIPS (1988).

``array`` and ``sky`` make visibilities, ``sorting`` orders them, ``gridding`` and ``dirty`` turn them
into images, ``clean`` and ``entropy`` deconvolve, ``selfcal`` finds the antennas' gains, ``direct`` predicts
visibilities, ``arithmetic`` does the rest; ``ddt`` runs the thirteen problems from file to file.
"""
