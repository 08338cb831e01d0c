"""VTESS: deconvolution by maximum entropy (Cornwell and Evans 1985, A&A 143, 77).

The image b, positive, Jy a pixel, maximises

    J = −Σ b ln(b/(m e)) − α χ² − β Σ b,      ∇J = −ln(b/m) + 2 α r − β,      r = dirty − beam ∗ b

where m is a level image, and α and β are such that the residual is noise and Σ b is the total flux.  χ² is that of
the visibilities: its gradient is −2 r, without a second convolution, and its second derivative the beam.  As published,

- a Newton step divides ∇J by the diagonal of the second derivative, w = 1/(1/b + 2 α q), where q is what the beam adds:
  here its curvature along the step before;
- lengths are measured by w; α rises towards r = noise only as far as ‖∇J‖² ≤ 0.3 (‖∇H‖² + α² ‖∇χ²‖²), and β makes
  a step keep the flux;
- the gradient at the step's end says by the secant where along the step to stop, which costs no convolution, since r
  is linear in b.

Three things are added.  Steps are made conjugate (Polak and Ribière): along the gradient alone the residual was still
ten times the noise of 10⁻⁴ of the peak after 2000 of them.  Where pixels would become negative the step is cut, and
the image is scaled back to its flux, r with it.  And α ends where residuals are below what float32 holds.

A step is NumPy's, on the pixels of the inner half; most of its time goes into the one convolution.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from supercomputers_rerun.kernels.contract import Check, require_range
from supercomputers_rerun.kernels.imaging.clean import inner, require_images
from supercomputers_rerun.kernels.imaging.convolution import Convolver, convolve

__all__ = ["Restored", "reference", "restore", "search", "verify"]

#: ‖∇J‖² over the squares of its parts up to which α may change, and at which the image has converged.
GAIN, CONVERGED = 0.3, 0.01
#: Distance of the residual from the noise at which the image has converged, relative.
FIT = 0.05
#: Part of a pixel that a step takes at most, and the least a pixel may hold, of the level.
TAKEN, LEAST = 0.9, 1e-30
#: Steps after which the residual is convolved anew, before rounding adds up in it.
ANEW = 32
#: Largest α times the peak: 2 α r is of the order of ten, and float32 keeps r to 10⁻⁷ of the peak.
LARGEST = 1e8


class Restored(NamedTuple):
    """What a search for the image of maximum entropy found."""

    model: np.ndarray  # (side, side): Jy per pixel
    residual: np.ndarray  # (side, side): dirty − beam ∗ model
    rms: np.ndarray  # float64 (iterations + 1,): of the residual within the box, Jy per beam
    entropy: np.ndarray  # float64 (iterations + 1,): −Σ b ln(b/(m e))
    alpha: float  # per square of Jy per beam
    converged: bool  # residual at the noise, gradient small


def _dot(a, b) -> float:
    """Σ a b, row by row in float32, in one thread, unlike a product of BLAS."""
    return float(np.einsum("ij,ij->i", a, b).sum(dtype=float))


def _multiplier(alpha: float, norms, weight: float, rms: float, noise: float) -> float:
    """α for the next step: the residual is as 1/α, and the gradient criterion bounds the change.

    ``norms``: ‖∇H‖², ∇H·∇χ² (negative) and ‖∇χ²‖² where the flux may not change; ``weight``: Σ w.
    """
    hh, hc, cc = norms
    if alpha == 0:
        return float(np.sqrt(GAIN * weight / cc)) if cc > 0 else 0.0
    root = hc * hc - cc * (hh - GAIN * (hh + alpha**2 * cc))
    if root <= 0:
        return alpha
    low, high = (-hc - root**0.5) / cc, (-hc + root**0.5) / cc
    return float(np.clip(alpha * np.clip(rms / max(noise, 1e-30), 0.5, 2.0), min(low, alpha), max(high, alpha)))


def search(dirty, over: Callable, q: float, noise: float, flux: float, iterations: int) -> Restored:
    """The search in the type of ``dirty``; ``over(image)`` is beam ∗ image, ``q`` the beam's largest curvature."""
    model = np.zeros_like(dirty)
    image, kind = inner(model), dirty.dtype.type
    image[:] = level = kind(flux / image.size)
    step, given, turned, last = np.zeros_like(model), inner(dirty), np.zeros_like(image), np.zeros_like(image)
    inside, largest = inner(step), LARGEST / max(float(np.abs(given).max()), 1e-20)
    alpha = length = before = 0.0
    scale, residual, rms, entropy = 1.0, given - inner(over(model)), [], []
    for number in range(iterations + 1):
        heavy = 2 * alpha * q
        image += kind(length) * inside
        image *= kind(scale)
        residual -= kind(length) * turned
        residual += kind(1 - scale) * (given - residual)
        if number % ANEW == ANEW - 1:
            residual = given - inner(over(model))
        h, c = -np.log(image / level), 2 * residual
        rms.append((_dot(c, c) / 4 / c.size) ** 0.5)
        total = float(image.sum(dtype=float))
        entropy.append(_dot(image, h) + total)
        w = image / (1 + kind(heavy) * image)
        weight, wh, wc = float(w.sum(dtype=float)), _dot(w, h), _dot(w, c)
        hw = w * h
        hh, hc, cc = _dot(hw, h), _dot(hw, c), _dot(w * c, c)
        free = hh - wh * wh / weight, hc - wh * wc / weight, cc - wc * wc / weight
        norm = (free[0] + 2 * alpha * free[1] + alpha**2 * free[2]) / max(free[0] + alpha**2 * free[2], 1e-300)
        converged = abs(rms[-1] - noise) <= FIT * noise and norm <= CONVERGED
        if converged or number == iterations:
            break
        alpha = min(_multiplier(alpha, free, weight, rms[-1], noise), largest)
        beta = (wh + alpha * wc + total - flux) / weight
        gradient = h + kind(alpha) * c - kind(beta)
        ahead = w * gradient
        square = _dot(ahead, gradient)
        gamma = max(0.0, (square - _dot(ahead, last)) / before) if before else 0.0
        least = np.maximum(kind(-TAKEN) * image, kind(LEAST) * level - image)
        np.maximum(kind(gamma) * inside + ahead, least, out=inside)
        if (along := _dot(inside, gradient)) <= 0 and gamma:
            np.maximum(ahead, least, out=inside)
            along = _dot(inside, gradient)
        last, before, turned = gradient, square, inner(over(step))
        end = kind(2 * alpha) * (residual - turned) - kind(beta) - np.log((image + inside) / level)
        there, curved, size = _dot(inside, end), _dot(inside, turned), _dot(inside, inside)
        length = float(np.clip(along / (along - there), 0.0, 1.0 / TAKEN - 0.01)) if along > there else 1.0
        scale = flux / (total + length * float(inside.sum(dtype=float)))
        q = max(1.0, (q + curved / size) / 2) if size > 0 else q
    return Restored(model, dirty - over(model), np.array(rms), np.array(entropy), alpha, bool(converged))


def restore(dirty, beam, noise: float, flux: float, iterations: int = 10, threads: int = 1) -> Restored:
    """The image of maximum entropy, or what ``iterations`` steps make of it, float32.

    ``dirty`` and ``beam``: float32 (side, side) and (2·side, 2·side); ``noise``, Jy per beam: the root mean square that
    the residual is to have; ``flux``: Jy in the image; ``iterations``: steps at most, one convolution each, and two
    more.  ``ValueError``: a number outside its range, images of other shapes or with pixels that are not finite.
    """
    require_range("noise", noise, 0.0, 1e30, "Jy per beam")
    require_range("iterations", iterations, 1, 10_000)
    require_range("flux", flux, 1e-30, 1e30, "Jy")
    side = require_images(dirty, beam)
    over = Convolver(beam, threads)
    q = float(np.abs(over.response[:, :, 0]).max()) * (2 * side) ** 2
    return search(dirty, over, q, noise, flux, iterations)


def reference(dirty, beam, noise: float, flux: float, iterations: int = 10) -> Restored:
    """The same steps in float64, with SciPy's transforms."""
    side, whole = len(dirty), beam.astype(float)
    q = np.abs(np.fft.rfft2(np.roll(whole, (-side, -side), (0, 1))).real).max()
    return search(dirty.astype(float), lambda image: convolve(whole, image), q, noise, flux, iterations)


def verify(found: dict, dirty, beam, flux: float, iterations: int) -> list[Check]:
    """What a restored image must satisfy after ``iterations`` steps, recomputed in float64.

    ``found`` has ``model``, ``rms`` and ``entropy`` of a :class:`Restored`.
    """
    side = len(dirty)
    model = found["model"].astype(float)
    image, level = inner(model), flux / (side // 2) ** 2
    residual = inner(dirty - convolve(beam, model))
    flat = inner(dirty - convolve(beam, np.pad(np.full_like(image, level), side // 4)))
    rms, first = (float(np.sqrt(np.mean(part**2))) for part in (residual, flat))
    logs = np.log(np.maximum(image, 1e-300) / level)
    return [
        Check.relative("VTESS: flux, Jy", image.sum(), flux, 0.01),
        Check.near("VTESS: pixels of the box that are not positive", np.count_nonzero(~(image > 0)), 0, 0),
        Check.near("VTESS: pixels outside the box that are not zero", np.count_nonzero(model) - image.size, 0, 0),
        Check.relative("VTESS: first rms", found["rms"][0], first, 1e-4),
        Check.relative("VTESS: last rms", found["rms"][-1], rms, 1e-3),
        Check.relative("VTESS: last entropy", found["entropy"][-1], (image * (1 - logs)).sum(), 1e-3),
        Check.near("VTESS: entropies less rms", len(found["entropy"]) - len(found["rms"]), 0, 0),
        Check.near("VTESS: iterations", len(found["rms"]) - 1, iterations, 0),
        Check("VTESS: the residual falls to", rms / first, 0.0, 0.25, bool(rms < first / 4)),
    ]
