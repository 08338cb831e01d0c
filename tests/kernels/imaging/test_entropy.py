"""VTESS against an independent convex solver, and the sky it was made from."""

import numpy as np
import pytest
from scipy.optimize import minimize

from supercomputers_rerun.kernels.imaging import entropy, masters, tasks
from supercomputers_rerun.kernels.imaging.checks import agreement
from supercomputers_rerun.kernels.imaging.convolution import convolve


def test_the_image_has_the_skys_flux_and_the_residual_is_noise():
    made, noise = masters.masters("small"), tasks.noise_of(masters.SIZES["small"].visibilities)
    flux = float(made.flux[0])
    found = entropy.restore(made.dirty, made.beam, noise, flux, 10_000)
    checks = entropy.verify(found._asdict(), made.dirty, made.beam, flux, len(found.rms) - 1)
    assert found.converged and [str(check) for check in checks if not check.ok] == []
    assert found.model.sum(dtype=float) == pytest.approx(flux, rel=0.01)
    assert found.rms[-1] == pytest.approx(noise, rel=0.05)
    assert 100 < len(found.rms) < 1000


def test_an_independent_solver_finds_the_same_image(monkeypatch):
    """Flux held by a softmax, the quadratic by a matrix, the maximum by L-BFGS in float64."""
    monkeypatch.setattr(entropy, "CONVERGED", 1e-8)
    monkeypatch.setattr(entropy, "FIT", 1e-3)
    whole, generator = masters.masters("tiny").beam[32:96, 32:96].copy(), np.random.default_rng(5)
    places = np.stack(np.mgrid[8:24, 8:24], axis=-1).reshape(-1, 2)
    sky = np.zeros((32, 32))
    sky[tuple(generator.integers(10, 22, (2, 12)))] += generator.uniform(0.1, 1, 12)
    noise, flux = 0.02, float(sky.sum())
    image = convolve(whole, sky) + noise / 2 * generator.standard_normal((32, 32))
    ours = entropy.restore(image.astype(np.float32), whole, noise, flux, 3000)
    assert ours.converged
    shift = places[:, None] - places[None] + 32
    beam = whole.astype(float)[shift[..., 0], shift[..., 1]]
    dirty, level = image[8:24, 8:24].ravel(), flux / len(places)

    def minus_j(x):
        image = flux * np.exp(x - x.max()) / np.exp(x - x.max()).sum()
        turned, logs = beam @ image, np.log(image / level)
        slope = logs + 2 * ours.alpha * (turned - dirty)
        value = (image * (logs - 1)).sum() + ours.alpha * image @ (turned - 2 * dirty)
        return value, image * (slope - (image * slope).sum() / flux)

    found = minimize(
        minus_j,
        np.zeros(len(places)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": 1000, "maxfun": 1200, "ftol": 1e-14, "gtol": 1e-8, "maxcor": 40},
    )
    image = flux * np.exp(found.x - found.x.max()) / np.exp(found.x - found.x.max()).sum()
    mine = ours.model[8:24, 8:24].ravel()
    assert np.abs(mine - image).max() < 0.01 * image.max()
    assert np.sqrt(np.mean((dirty - beam @ image) ** 2)) == pytest.approx(noise, rel=0.01)
    assert -minus_j(np.log(mine))[0] == pytest.approx(-found.fun, rel=1e-5)


@pytest.mark.parametrize(
    ("noise", "steps"),
    [(1e-9, 2_000), (1e-4, 2_000), (30.0, 2_000)],
)
def test_thousands_of_steps_stay_finite_and_positive(noise, steps):
    """Towards a noise that the box does not allow, as many as there may be; one that it does; one above the image."""
    made = masters.masters("tiny")
    found = entropy.restore(made.dirty, made.beam, noise, float(made.flux[0]), steps)
    inner = found.model[16:48, 16:48]
    assert np.isfinite(found.residual).all() and np.isfinite(found.alpha) and (inner > 0).all()
    assert inner.sum(dtype=float) == pytest.approx(float(made.flux[0]), rel=1e-5)
    expected = made.dirty - convolve(made.beam, found.model.astype(float))
    assert agreement(found.residual, expected, peak=float(made.dirty.max())) >= 20
    assert not found.converged
