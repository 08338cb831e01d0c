"""The section *How does one know that an image is right?*: sound and wrong images of one sky."""

import numpy as np

from companion import figures
from companion.common import pd

#: Bits to which the test asks results to agree.
_ASKED = 20


def cases() -> list:
    """Sound and damaged runs of the small test."""
    from kernels.imaging import damage

    return damage.cases("small")


def wrong(cases: list) -> "figures.Shown":
    """Images of the :func:`cases`, with flux and bits, on the scale of the first, the truth.

    Digits differ between processors: flux has three of them, and bits count up to the 20 that the test asks for.
    """
    from matplotlib.colors import PowerNorm

    truth, high = cases[0], (len(cases) + 2) // 3
    side = len(truth.image)
    inner = (slice(side // 4, side - side // 4),) * 2
    norm = PowerNorm(0.5, 0, float(truth.image.max()), clip=True)  # the square root of the brightness
    figure, panels = figures.axes(high, 3, height=1.75 * high, squeeze=False)
    for axis in panels.ravel():
        axis.axis("off")
    for axis, case in zip(panels.ravel(), cases, strict=False):
        axis.imshow(case.image[inner], origin="lower", cmap="viridis", norm=norm, rasterized=True)
        bits = f"{case.maximum:.0f}" if case.maximum < _ASKED else f"over {_ASKED}"
        title = f"{case.what.partition(':')[0]}\n{case.flux:.3g} Jy, {bits} bits"
        axis.set_title(title.replace("-", "−"), size=9)
    apart = 100 * float(np.abs(cases[-1].image - cases[-2].image).max() / truth.image.max())
    rows = [
        (case.what.partition(":")[0], float(f"{case.flux:.3g}"), round(min(case.maximum, _ASKED)), case.accepted)
        for case in cases
    ]
    verdicts = [f"{what} {'accepted' if accepted else 'refused'}" for what, *_, accepted in rows]
    return figures.show(
        figure,
        data=pd.DataFrame(rows, columns=["what", "flux", f"bits up to {_ASKED}", "accepted"]),
        name="aips58_wrong",
        title="Sound and wrong images of one sky",
        caption="The inner half of the small image, each model smoothed with the same beam, colours as in the truth. "
        f"The last two images differ by at most {apart:.1f} % of the peak.",
        alt="Images of one sky in the colours of the truth, above each its total flux and its bits. By the checks: "
        f"{', '.join(verdicts)}.",
    )
