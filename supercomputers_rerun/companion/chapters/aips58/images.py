"""The section *How does one know that an image is right?*: sound and wrong images of one sky."""

import textwrap

from supercomputers_rerun.companion import figures, tables
from supercomputers_rerun.companion.common import np, pd
from supercomputers_rerun.companion.conclusions import THEN, Finding, conclusion

#: Bits to which the test asks results to agree.
_ASKED = 20
#: How many times as bright as the images their difference is drawn.
_BRIGHTER = 10
#: Components of a CLEAN with a gain of one's own.
COMPONENTS = 60


def remaining(gain: float) -> "np.ndarray":
    """The highest pixel of the small image before each of :data:`COMPONENTS` of CLEAN, over that of the image."""
    from supercomputers_rerun.kernels.imaging import damage, masters

    small = masters.masters("small")
    fluxes = damage.hogbom(small.dirty, small.beam, COMPONENTS, gain).fluxes  # each is gain times the pixel
    return np.abs(fluxes) / gain / small.dirty.max()


@figures.styled
def peaks(gain: float = 2.2) -> "figures.Shown":
    """What CLEAN leaves, component by component: with three gains and one of one's own."""
    frame = pd.DataFrame({f"gain {each:g}": remaining(each) for each in sorted({0.5, 1.0, 1.9, gain})})
    figure, axis = figures.axes(height=2.8)
    for label, left in frame.items():
        axis.plot(left, label=label)
    figures.log_axis(axis, "y")
    figures.legend(axis, "upper left")
    axis.set(xlabel="components found", ylabel="highest pixel, first = 1")
    last = float(frame[f"gain {gain:g}"].iloc[-1])
    times = f"{float(f'{last:.2g}'):g} times"
    if last > 1:  # else its end lies among the others'
        axis.annotate(times, (len(frame) - 1, last), xytext=(-8, -2), textcoords="offset points", ha="right",
                      weight="bold", size=9)  # fmt: skip
    ways = [f"{label} it {'grows' if left.iloc[-1] > 1 else 'falls'}" for label, left in frame.items()]
    return figures.show(
        figure,
        data=frame.rename_axis("component").reset_index(),
        name="aips58_peaks",
        title=f"With gain {gain:g} CLEAN {'explodes' if last > 1 else 'converges'}: its highest pixel ends "
        f"{times} as high",
        caption="The highest pixel that is left, component by component. Gains below 2 converge.",
        alt=f"The highest pixel that CLEAN leaves against the components found. With {', with '.join(ways)}.",
    )


def cases() -> list:
    """Sound and damaged runs of the small test."""
    from supercomputers_rerun.kernels.imaging import damage

    return damage.cases("small")


@figures.styled
def wrong(cases: list) -> "figures.Shown":
    """Images of the :func:`cases`, with flux and bits, on the scale of the first, the truth.

    Below each the number that decides; after them the difference of the last two, if both are of VTESS.

    Digits differ between processors: flux has three of them, and bits count up to the 20 that the test asks for.
    """
    from matplotlib.colors import PowerNorm
    from matplotlib.patches import Rectangle

    truth, high = cases[0], (len(cases) + 2) // 3
    side = len(truth.image)
    inner = (slice(side // 4, side - side // 4),) * 2
    norm = PowerNorm(0.5, 0, float(truth.image.max()), clip=True)  # the square root of the brightness
    colours = {"origin": "lower", "cmap": "viridis", "norm": norm, "rasterized": True}
    figure, panels = figures.axes(high, 3, height=2.3 * high, squeeze=False)
    figure.get_layout_engine().set(h_pad=0.1)  # the words below a row clear of the title of the next
    for axis in panels.ravel():
        axis.axis("off")
    for axis, case in zip(panels.ravel(), cases, strict=False):
        axis.imshow(case.image[inner], **colours)
        bits = f"{case.maximum:.0f}" if case.maximum < _ASKED else f"over {_ASKED}"
        what, _, left = case.what.partition(": ")
        flux = f"{case.flux:.3g}" if abs(case.flux) < 100 else f"{float(f'{case.flux:.3g}'):.0f}"
        title = f"{what}\n{flux} Jy, {bits} bits"
        axis.set_title(title.replace("-", "−"), size=9)
        decides = f"{bits} of {_ASKED} bits" if case.maximum < _ASKED else left
        said, name = ("accepted", "computing") if case.accepted else ("refused", "waiting")
        said = "\n".join([f"{said}:" if decides else said, *textwrap.wrap(decides, 21)])
        colour = figures.meaning(name)
        axis.text(0.5, -0.03, said, transform=axis.transAxes, ha="center", va="top", size=9, color=colour)
        axis.add_patch(Rectangle((0, 0), 1, 1, fill=False, edgecolor=colour, linewidth=4, transform=axis.transAxes))
    difference = np.abs(cases[-1].image - cases[-2].image)
    apart = 100 * float(difference.max() / truth.image.max())
    if panels.size > len(cases) and all(case.what.startswith("VTESS") for case in cases[-2:]):
        axis = panels.ravel()[len(cases)]
        axis.imshow(_BRIGHTER * difference[inner], **colours)
        axis.set_title(f"difference × {_BRIGHTER}:\nup to {apart:.0f} % of the peak", size=9)
        words = "between the two\nimages of VTESS"
        axis.text(0.5, -0.03, words, transform=axis.transAxes, ha="center", va="top", size=9, color=figures.INK)
    rows = [
        (case.what.partition(":")[0], float(f"{case.flux:.3g}"), round(min(case.maximum, _ASKED)), case.accepted)
        for case in cases
    ]
    verdicts = [f"{what} {'accepted' if accepted else 'refused'}" for what, *_, accepted in rows]
    return figures.show(
        figure,
        data=pd.DataFrame(rows, columns=["what", "flux", f"bits up to {_ASKED}", "accepted"]),
        name="aips58_wrong",
        title=f"Two VTESS images of one sky differ by at most {apart:.0f} % of the peak"
        f"{'' if cases[-1].accepted == cases[-2].accepted else ', and our checks refuse one'}",
        caption="Above each image its flux and bits, below our checks' verdict and the number that decides. Dark: 0 or "
        "less; yellow: the true peak.",
        alt="Images of one sky in the colours of the truth, above each its total flux and its bits. By the checks: "
        f"{', '.join(verdicts)}.",
    )


@conclusion(
    "aips58-c16",
    place="section 6, notes 9 and 10",
    says="APCLN's images on the X-MPs are wrong. VTESS no longer converges, but its times may be valid all the same.",
)
def wrong_images() -> Finding:
    """Of VTESS, whose work does not depend on its success."""
    count = int(tables.load("aips58", "prose")["vtess_iterations"])
    return Finding(
        THEN,
        f"Why APCLN failed is not known. The test's VTESS is designed for {count} iterations, so that its time is that "
        "of the work. The chapter makes wrong images on purpose, and its checks refuse them.",
        bears=count > 0,
    )
