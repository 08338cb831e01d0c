"""The algorithms behind the routine names of two IFS profiles, on blocks of NPROMA columns.

============= =================== =======================================================
module        name in the profile work
============= =================== =======================================================
saturation    CUADJTQ             saturation adjustment by Newton's iteration
interpolation LASCAW LAITLI LAITQM semi-Lagrangian weights, linear and cubic interpolation
cloud         CLOUDSC             a branchy column process with many divisions
============= =================== =======================================================

The names tell which place in a profile the work has.  Every algorithm is written from the literature
that its module cites; none is IFS code, and rates are compared as rates, never as seconds a call.

Each module answers to the words of ``kernels.contract``.  ``build = "vector"`` and ``"scalar"`` are
one source compiled for eight columns or for one column an instruction (``lanes``); results agree bit
for bit between builds, for any NPROMA and any number of threads.  The preset ``"paper"`` is the whole grid
of T399 with 62 levels, ``"share"`` what one of 96 processors had of it.  ``Work.parts`` holds named counts
(``"divides"``, ``"special functions"``) beside the flops.

>>> from supercomputers_rerun.kernels.routines import saturation
>>> problem = saturation.Problem(columns=100, levels=10, nproma=16)
>>> result = saturation.run(problem, saturation.setup(problem))
>>> all(check.ok for check in saturation.verify(problem, result)), result.t_new.shape
(True, (7, 10, 16))
"""


def profile() -> dict[str, tuple]:
    """Name in the profile -> (module, fields of its Problem that make it this work)."""
    from supercomputers_rerun.kernels.routines import (  # whoever takes one need not take all
        cloud,
        interpolation,
        saturation,
    )

    return {
        "CUADJTQ": (saturation, {}),
        "CLOUDSC": (cloud, {}),
        "LAITQM": (interpolation, {"scheme": "cubic"}),
        "LAITLI": (interpolation, {"scheme": "linear"}),
        "LASCAW": (interpolation, {"scheme": "weights"}),
    }
