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

Compiled functions share ``images``, seven of float32 (side, side): dirty, b, r, step, beam ∗ step, ∇H and the last ∇J;
``box``, first and last row and column; ``numbers`` of the step, float32; and ``sums``, float64 (side, 12), a row for
each row of the images.  A ``thread`` takes every ``threads``-th row.
"""

from typing import NamedTuple

import numpy as np
from numba import float32

from kernels.contract import Check, require_range
from kernels.imaging.clean import Limits, require_images
from kernels.imaging.convolution import Convolver, convolve
from kernels.runtime.jit import REDUCE, kernel
from kernels.runtime.threads import run_parts

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
#: Part of the image's logarithm that the residual may leave untold where convergence is verified.
UNTOLD = 0.1


class Restored(NamedTuple):
    model: np.ndarray  # float32 (side, side): Jy per pixel
    residual: np.ndarray  # float32 (side, side): dirty − beam ∗ model
    rms: np.ndarray  # float64 (iterations + 1,): of the residual within the box, Jy per beam
    entropy: np.ndarray  # float64 (iterations + 1,): −Σ b ln(b/(m e))
    alpha: float  # per square of Jy per beam
    converged: bool  # residual at the noise, gradient small


class _Sums(NamedTuple):
    """Sums over the box: of the image, and of products of ∇H, ∇χ² (negative) and the last gradient by w."""

    flux: float
    entropy: float
    square: float  # of the residual
    w: float
    h: float
    c: float
    hh: float
    hc: float
    cc: float
    o: float
    oh: float
    oc: float


@kernel(fastmath=REDUCE)
def _gradients(images, box, numbers, sums, threads, thread):
    """Go ``length`` along the step in every ``threads``-th row, and scale; per row the sums of ``_Sums``."""
    dirty, model, residual, step, turned, slope, last = images
    length, scale, level, heavy = numbers
    for y in range(thread, model.shape[0], threads):
        for x in range(model.shape[1]):
            gone = residual[y, x] - length * turned[y, x]
            residual[y, x] = gone + (float32(1) - scale) * (dirty[y, x] - gone)
        if y < box[0] or y > box[1]:
            continue
        flux = entropy = square = w0 = h1 = c1 = hh = hc = cc = o1 = oh = oc = float32(0)
        for x in range(box[2], box[3] + 1):
            value = scale * (model[y, x] + length * step[y, x])
            h, c, o = -np.log(value / level), float32(2) * residual[y, x], last[y, x]
            model[y, x], slope[y, x] = value, h
            w = value / (float32(1) + heavy * value)
            flux += value
            entropy += value * (h + float32(1))
            square += residual[y, x] * residual[y, x]
            w0, h1, c1, o1 = w0 + w, h1 + w * h, c1 + w * c, o1 + w * o
            hh, hc, cc = hh + w * h * h, hc + w * h * c, cc + w * c * c
            oh, oc = oh + w * o * h, oc + w * o * c
        for n, value in enumerate((flux, entropy, square, w0, h1, c1, hh, hc, cc, o1, oh, oc)):
            sums[y, n] = value


@kernel(fastmath=REDUCE)
def _direct(images, box, numbers, sums, threads, thread):
    """The next step w ∇J + γ step, and ∇J; per row step·∇J, step·step and the step's sum.

    No pixel loses more than ``TAKEN`` of it.
    """
    _, model, residual, step, _, slope, last = images
    level, heavy, alpha, beta, gamma = numbers
    for y in range(box[0] + thread, box[1] + 1, threads):
        along = square = total = float32(0)
        for x in range(box[2], box[3] + 1):
            value = model[y, x]
            gradient = slope[y, x] + float32(2) * alpha * residual[y, x] - beta
            new = value / (float32(1) + heavy * value) * gradient + gamma * step[y, x]
            new = max(new, max(-float32(TAKEN) * value, float32(LEAST) * level - value))
            step[y, x], last[y, x] = new, gradient
            along += new * gradient
            square += new * new
            total += new
        sums[y, 0], sums[y, 1], sums[y, 2] = along, square, total


@kernel(fastmath=REDUCE)
def _end(images, box, numbers, sums, threads, thread):
    """Per row step·∇J at the step's end, and step·beam ∗ step."""
    _, model, residual, step, turned, _, _ = images
    level, alpha, beta = numbers
    for y in range(box[0] + thread, box[1] + 1, threads):
        along = curved = float32(0)
        for x in range(box[2], box[3] + 1):
            there = residual[y, x] - turned[y, x]
            gradient = float32(2) * alpha * there - beta - np.log((model[y, x] + step[y, x]) / level)
            along += step[y, x] * gradient
            curved += step[y, x] * turned[y, x]
        sums[y, 0], sums[y, 1] = along, curved


class _Search:
    """The images of a search, and what its steps need to know."""

    def __init__(self, dirty, convolver, level, flux, box, threads):
        self.convolver, self.level, self.flux, self.box, self.threads = convolver, level, flux, box, threads
        self.inner = slice(box[0], box[1] + 1), slice(box[2], box[3] + 1)
        self.images = (dirty, *(np.zeros_like(dirty) for _ in range(6)))
        _, self.model, self.residual, self.step, self.turned, _, _ = self.images
        self.model[self.inner] = level
        self.convolve()
        self.sums = np.zeros((len(dirty), len(_Sums._fields)))
        self.largest = LARGEST / max(float(np.abs(dirty[self.inner]).max()), 1e-20)
        self.q = float(np.abs(convolver.response[:, :, 0]).max()) * (2 * len(dirty)) ** 2
        self.alpha, self.length, self.scale, self.before = 0.0, 0.0, 1.0, 0.0

    def convolve(self) -> None:
        """The residual anew."""
        np.subtract(self.images[0], self.convolver(self.model), out=self.residual)

    def pass_over(self, work, *numbers) -> np.ndarray:
        """Sums over the box of one kernel."""
        numbers = tuple(np.float32(value) for value in numbers)
        run_parts(work, self.threads, self.images, self.box, numbers, self.sums, self.threads)
        return self.sums[self.box[0] : self.box[1] + 1].sum(axis=0)

    @property
    def heavy(self) -> float:
        return 2 * self.alpha * self.q

    def gradients(self) -> _Sums:
        return _Sums(*map(float, self.pass_over(_gradients, self.length, self.scale, self.level, self.heavy)))

    def freed(self, s: _Sums) -> tuple[float, float, float]:
        """hh, hc and cc of what is left of the gradients where the flux may not change."""
        return s.hh - s.h * s.h / s.w, s.hc - s.h * s.c / s.w, s.cc - s.c * s.c / s.w

    def norm_of_gradient(self, s: _Sums) -> float:
        """‖∇J‖² over the squares of its parts."""
        hh, hc, cc = self.freed(s)
        return (hh + 2 * self.alpha * hc + self.alpha**2 * cc) / max(hh + self.alpha**2 * cc, 1e-300)

    def multiply(self, s: _Sums, rms: float, noise: float) -> None:
        """α for the next step: the residual is as 1/α, and the gradient criterion bounds the change."""
        hh, hc, cc = self.freed(s)
        if self.alpha == 0:
            self.alpha = float(np.sqrt(GAIN * s.w / cc)) if cc > 0 else 0.0
        elif (root := hc * hc - cc * (hh - GAIN * (hh + self.alpha**2 * cc))) > 0:
            low, high = (-hc - root**0.5) / cc, (-hc + root**0.5) / cc
            wanted = self.alpha * float(np.clip(rms / max(noise, 1e-30), 0.5, 2.0))
            self.alpha = float(np.clip(wanted, min(low, self.alpha), max(high, self.alpha)))
        self.alpha = min(self.alpha, self.largest)

    def go(self, s: _Sums, heavy: float) -> None:
        """The next step, and how far to go along it."""
        alpha = self.alpha
        beta = (s.h + alpha * s.c + s.flux - self.flux) / s.w
        square = s.hh + 2 * alpha * s.hc + alpha**2 * s.cc - 2 * beta * (s.h + alpha * s.c) + beta**2 * s.w
        turn = square - (s.oh + alpha * s.oc - beta * s.o)
        gamma = max(0.0, turn / self.before) if self.before > 0 else 0.0
        along, norm, total = self.pass_over(_direct, self.level, heavy, alpha, beta, gamma)[:3]
        if along <= 0 and gamma:
            along, norm, total = self.pass_over(_direct, self.level, heavy, alpha, beta, 0.0)[:3]
        self.before = square
        self.convolver(self.step, out=self.turned)
        ahead, curved = self.pass_over(_end, self.level, alpha, beta)[:2]
        self.length = float(np.clip(along / (along - ahead), 0.0, 1.0 / TAKEN - 0.01)) if along > ahead else 1.0
        self.scale = self.flux / (s.flux + self.length * total)
        self.q = max(1.0, (self.q + curved / norm) / 2) if norm > 0 else self.q


def restore(dirty, beam, noise, flux, iterations=10, box=None, threads=1) -> Restored:
    """The image of maximum entropy, or what ``iterations`` steps make of it.

    ``ValueError``: a number outside its range, images of other shapes or with pixels that are not finite.

    Parameters
    ----------
    dirty, beam : ndarray, float32 (side, side), (2·side, 2·side)
    noise : float
        Jy per beam: the root mean square that the residual is to have.
    flux : float
        Jy in the image.
    iterations : int
        Steps at most; one convolution each.
    box : tuple of int, optional
        First and last row, first and last column; None: the inner half.
    """
    require_range("noise", noise, 0.0, 1e30, "Jy per beam")
    require_range("iterations", iterations, 1, 10_000)
    require_range("flux", flux, 1e-30, 1e30, "Jy")
    side = require_images(dirty, beam)
    box = Limits(box=box).within(side)
    convolver = Convolver(beam, threads)
    pixels = (box[1] - box[0] + 1) * (box[3] - box[2] + 1)
    search = _Search(dirty, convolver, flux / pixels, flux, box, threads)
    track, entropy = [], []
    for number in range(iterations + 1):
        heavy = search.heavy
        sums = search.gradients()
        if number % ANEW == ANEW - 1:
            search.convolve()
        track.append((sums.square / pixels) ** 0.5)
        entropy.append(sums.entropy)
        fits = abs(track[-1] - noise) <= FIT * noise
        converged = bool(fits and search.norm_of_gradient(sums) <= CONVERGED)
        if converged or number == iterations:
            break
        search.multiply(sums, track[-1], noise)
        search.go(sums, heavy)
    return Restored(search.model, search.residual, np.array(track), np.array(entropy), search.alpha, converged)


def plain(dirty, beam, noise, flux, iterations=10) -> Restored:
    """The same steps over the inner half, float64, with NumPy and SciPy's transforms."""
    side = len(dirty)
    inner = (slice(side // 4, side - side // 4),) * 2
    image = np.full((side // 2,) * 2, flux / (side // 2) ** 2)
    level, step, turned, last = image[0, 0], np.zeros_like(image), 0.0, np.zeros_like(image)
    alpha = length = before = 0.0
    scale, residual, rms, entropy = 1.0, dirty.astype(float) - _over_box(beam, image), [], []
    q = np.abs(np.fft.rfft2(np.roll(beam.astype(float), (-side, -side), (0, 1))).real).max()
    for number in range(iterations + 1):
        image = scale * (image + length * step)
        residual = scale * (residual - length * turned) + (1 - scale) * dirty
        h, c = -np.log(image / level), 2 * residual[inner]
        rms.append(np.sqrt(np.mean(residual[inner] ** 2)))
        entropy.append((image * (h + 1)).sum())
        if number == iterations:
            break
        w = image / (1 + 2 * alpha * q * image)
        hf, cf = h - (w * h).sum() / w.sum(), c - (w * c).sum() / w.sum()
        hh, hc, cc = (w * hf * hf).sum(), (w * hf * cf).sum(), (w * cf * cf).sum()
        root = hc * hc - cc * (hh - GAIN * (hh + alpha**2 * cc))
        if alpha == 0:
            alpha = np.sqrt(GAIN * w.sum() / cc)
        elif root > 0:
            low, high = (-hc - root**0.5) / cc, (-hc + root**0.5) / cc
            alpha = np.clip(alpha * np.clip(rms[-1] / noise, 0.5, 2), min(low, alpha), max(high, alpha))
        beta = ((w * (h + alpha * c)).sum() + image.sum() - flux) / w.sum()
        gradient = h + alpha * c - beta
        square = (w * gradient**2).sum()
        gamma = max(0.0, (square - (w * last * gradient).sum()) / before) if before else 0.0
        step = np.maximum(w * gradient + gamma * step, -TAKEN * image)
        last, before, turned = gradient, square, _over_box(beam, step)
        end = 2 * alpha * (residual - turned)[inner] - beta - np.log((image + step) / level)
        along, ahead, curved = (step * gradient).sum(), (step * end).sum(), (step * turned[inner]).sum()
        length = np.clip(along / (along - ahead), 0, 1 / TAKEN - 0.01)
        scale, q = flux / (image.sum() + length * step.sum()), max(1.0, (q + curved / (step**2).sum()) / 2)
    model = np.zeros(dirty.shape)
    model[inner] = image
    return Restored(model, residual, np.array(rms), np.array(entropy), alpha, False)


def _over_box(beam, image) -> np.ndarray:
    """``image`` of the inner half, convolved, over the whole side."""
    return convolve(beam, np.pad(image, len(image) // 2))


def verify(found: dict, dirty, beam, noise, flux, iterations, converge=False) -> list[Check]:
    """What a restored image must satisfy, recomputed in float64: after ``iterations`` steps, or converged.

    ``found`` has ``model``, ``rms`` and ``entropy`` of a :class:`Restored` of the inner half.  ``converge`` asks for
    the noise, and for ln(b/m) = 2 α r − β: at the maximum the residual tells the logarithm of the image.
    """
    side = len(dirty)
    inner = (slice(side // 4, side - side // 4),) * 2
    model = found["model"].astype(float)
    image, level = model[inner], flux / (side // 2) ** 2
    residual = (dirty - convolve(beam, model))[inner]
    flat = (dirty - _over_box(beam, np.full_like(image, level)))[inner]
    rms, first = (float(np.sqrt(np.mean(part**2))) for part in (residual, flat))
    logs = np.log(np.maximum(image, 1e-300) / level)
    checks = [
        Check.relative("VTESS: flux, Jy", image.sum(), flux, 0.01),
        Check.near("VTESS: pixels of the box that are not positive", np.count_nonzero(~(image > 0)), 0, 0),
        Check.near("VTESS: pixels outside the box that are not zero", np.count_nonzero(model) - image.size, 0, 0),
        Check.relative("VTESS: first rms", found["rms"][0], first, 1e-4),
        Check.relative("VTESS: last rms", found["rms"][-1], rms, 1e-3),
        Check.relative("VTESS: last entropy", found["entropy"][-1], (image * (1 - logs)).sum(), 1e-3),
        Check.near("VTESS: entropies less rms", len(found["entropy"]) - len(found["rms"]), 0, 0),
    ]
    if not converge:
        steps = Check.near("VTESS: iterations", len(found["rms"]) - 1, iterations, 0)
        return [*checks, steps, Check("VTESS: the residual falls to", rms / first, 0.0, 0.25, bool(rms < first / 4))]
    left = _untold(logs, residual, image * level / (image + level))
    return [
        *checks,
        Check.relative("VTESS: residual at the noise, Jy per beam", rms, noise, 1.1 * FIT),
        Check("VTESS: part of ln(b/m) that the residual does not tell", left, 0.0, UNTOLD, bool(left <= UNTOLD)),
    ]


def _untold(logs, residual, weight) -> float:
    """What a straight line through ``residual`` leaves of the weighted squares of ``logs``."""
    x, y = (part - np.average(part, weights=weight) for part in (residual, logs))
    return float(1 - (weight * x * y).sum() ** 2 / ((weight * x * x).sum() * (weight * y * y).sum()))
