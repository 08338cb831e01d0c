"""Errors that others published for the mountain of Williamson et al. (1992), case 5.

GME, the icosahedral grid-point model of Deutscher Wetterdienst, in its shallow-water form: relative
``l2`` errors at day 15 against a spectral model of high truncation, mountain cut to waves as here.
Source: table 4 of "GME convergence test", GME Shallow Water Model, icon.enes.org/swm/gmeswm/node6.html.
"""

from typing import NamedTuple


class Published(NamedTuple):
    """One grid of the published table."""

    points: int  # grid points, 10 nᵢ² + 2
    height: float  # relative l2 error of height, 1
    vorticity: float  # relative l2 error of relative vorticity, 1


#: Day of the published errors.
DAY = 15
MOUNTAIN = (
    Published(10242, 1.3713e-3, 1.7342e-1),
    Published(40962, 7.2106e-4, 6.7494e-2),
    Published(92162, 6.7526e-4, 3.9068e-2),
    Published(368642, 6.6679e-4, 1.8496e-2),
)
