"""The same equations for whole arrays in NumPy: shifts, ``numpy.fft`` and dense solves; slow, for small grids.

Written from the formulas of the compiled stages, not from their code: no window, no split time filter, no record;
column work in Python's own arithmetic.  The levels and their matrices are those of ``levels``.

Arrays are (nj, K, ni), v on south faces; an array of faces has nj + 1 rows.
"""

import numpy as np

from supercomputers_rerun.kernels.gridpoint.levels import (
    CP,
    DAMPING,
    EPSILON,
    GRAVITY,
    KAPPA,
    OMEGA,
    P_REF,
    RADIUS,
    T_REF,
    R,
    vertical,
)
from supercomputers_rerun.kernels.gridpoint.physics import ABSORPTION, BANDS, DRAG, DRAG_ABOVE, Q_0, STEFAN
from supercomputers_rerun.kernels.gridpoint.problem import Problem
from supercomputers_rerun.kernels.routines.cloud import plain as plain_level


def _east(x):
    return np.roll(x, -1, -1)


def _west(x):
    return np.roll(x, 1, -1)


def plain(u: np.ndarray, v: np.ndarray, ps: np.ndarray, thickness: np.ndarray) -> np.ndarray:
    """Change of surface pressure with time, Pa/s (nj, ni): ∂p_s/∂t = −Σ_k Δσ_k ∇·(p_s V_k), on the C grid.

    ``u`` and ``v``, m/s (nj, K, ni), lie half a grid length east and south of ``ps``, Pa (nj, ni); ``thickness`` is Δσ.
    """
    nj, ni = ps.shape
    dlam, dphi, pressure = 2 * np.pi / ni, np.pi / nj, ps[:, None]
    lat = (-np.pi / 2 + (np.arange(nj) + 0.5) * dphi)[:, None, None]
    edge = np.cos(-np.pi / 2 + np.arange(1, nj) * dphi)[:, None, None]  # cosφ of the faces between rows
    east = 0.5 * (pressure + _east(pressure)) * u
    north = np.zeros((nj + 1, *u.shape[1:]))  # nothing flows over the poles
    north[1:-1] = 0.5 * (pressure[1:] + pressure[:-1]) * v[1:] * edge
    divergence = (east - _west(east)) / dlam + np.diff(north, axis=0) / dphi
    return -(thickness[:, None] * divergence / (RADIUS * np.cos(lat))).sum(axis=1)


class WholeArrays:
    """Dynamics of one forecast."""

    def __init__(self, problem: Problem):
        self.problem, self.levels = problem, vertical(problem.levels)
        nj, ni = problem.nj, problem.ni
        self.dlam, self.dphi = 2 * np.pi / ni, np.pi / nj
        self.lat = (-np.pi / 2 + (np.arange(nj) + 0.5) * self.dphi)[:, None, None]
        self.face = (-np.pi / 2 + np.arange(nj + 1) * self.dphi)[:, None, None]
        self.cos, self.edge = np.cos(self.lat), np.cos(self.face)
        self.edge[[0, -1]] = 0.0

    def _mean_face(self, x):
        """Mean of neighbouring rows at the inner faces, the row itself at the poles."""
        return 0.5 * (np.concatenate([x[:1], x]) + np.concatenate([x, x[-1:]]))

    def _jump(self, x):
        """Difference across each face, zero at the poles."""
        zero = np.zeros_like(x[:1])
        return np.concatenate([zero, np.diff(x, axis=0), zero])

    def _with_pole(self, v):
        return np.concatenate([v, np.zeros_like(v[:1])])

    def divergence(self, u, v):
        """∇·(u, v) with v (nj + 1 faces) not yet multiplied by cosφ."""
        return (u - _west(u)) / (RADIUS * self.cos * self.dlam) + np.diff(v * self.edge, axis=0) / (
            RADIUS * self.cos * self.dphi
        )

    def _absolute_vorticity(self, u, v, ps):
        """η at corners of all faces."""
        speed = u * self.cos
        gap = np.diff(np.sin(self.lat), axis=0)
        zeta = np.empty((len(v), *u.shape[1:]))
        zeta[1:-1] = (_east(v) - v)[1:-1] * self.dphi / (RADIUS * self.dlam * gap) - np.diff(speed, axis=0) / (
            RADIUS * gap
        )
        cap = self.cos[0, 0, 0] / (RADIUS * (1 - np.abs(np.sin(self.lat[0, 0, 0]))))
        zeta[0] = -cap * u[0].mean(-1, keepdims=True)
        zeta[-1] = cap * u[-1].mean(-1, keepdims=True)
        pressure = self._mean_face(ps)
        corner = 0.5 * (pressure + _east(pressure))
        corner[[0, -1]] = ps[[0, -1]].mean(-1, keepdims=True)
        return (2 * OMEGA * np.sin(self.face) + zeta) / corner

    def _lift(self, x, rate, pressure):
        """Vertical advection of x by ṁ (half levels below each level) over Δσ p_s."""
        moved = np.zeros_like(x)
        step = rate[:, :-1] * np.diff(x, axis=1)
        moved[:, :-1] += step
        moved[:, 1:] += step
        return 0.5 * moved / (self.levels.thickness[:, None] * pressure)

    def tendencies(self, now, phis):
        """N of u, v, T, q, p_s before diffusion and filter."""
        lev, u, T, q, ps = self.levels, now["u"], now["T"], now["q"], now["ps"][:, None]
        v, cos, dlam, dphi = self._with_pole(now["v"]), self.cos, self.dlam, self.dphi
        pu, pv, log = 0.5 * (ps + _east(ps)), self._mean_face(ps), np.log(ps)
        U, V = pu * u, pv * v
        D = self.divergence(U, V)
        below = np.cumsum(D * lev.thickness[:, None], axis=1)
        above = below - D * lev.thickness[:, None]
        total = below[:, -1:]
        rate = lev.half[1:, None] * total - below
        phi = phis[:, None] + np.einsum("kl,jli->jki", lev.gamma, T)
        kinetic = (
            0.25 * (u**2 + _west(u) ** 2) + 0.25 * (v[:-1] ** 2 * self.edge[:-1] + v[1:] ** 2 * self.edge[1:]) / cos
        )
        bern = phi + kinetic
        eta, Vc = self._absolute_vorticity(u, v, ps), V * self.edge
        around = 0.25 * (Vc + _east(Vc))
        du = 0.5 * (eta[:-1] + eta[1:]) * (around[:-1] + around[1:]) / cos
        du -= ((_east(bern) - bern) + R * 0.5 * (T + _east(T)) * (_east(log) - log)) / (RADIUS * cos * dlam)
        du -= self._lift(u, 0.5 * (rate + _east(rate)), pu)
        across = self._mean_face(0.5 * (U + _west(U)))
        dv = -0.5 * (eta + _west(eta)) * across
        dv -= (self._jump(bern) + R * self._mean_face(T) * self._jump(log)) / (RADIUS * dphi)
        dv = dv[:-1] - self._lift(now["v"], self._mean_face(rate)[:-1], pv[:-1])
        dv[0] = 0.0
        ux, uw = U / (RADIUS * cos * dlam), _west(U) / (RADIUS * cos * dlam)
        vs, vn = Vc[:-1] / (RADIUS * cos * dphi), Vc[1:] / (RADIUS * cos * dphi)

        def moved(x):
            jump = self._jump(x)
            flat = 0.5 * (ux * (_east(x) - x) + uw * (x - _west(x)) + vn * jump[1:] + vs * jump[:-1])
            return -flat / ps - self._lift(x, rate, ps)

        force = self._mean_face(T) * self._jump(log)
        along = 0.5 * (T + _east(T)) * (_east(log) - log)
        work = 0.5 * (ux * along + uw * _west(along) + vn * force[1:] + vs * force[:-1])
        column = (lev.log / lev.thickness)[:, None] * above + lev.alpha[:, None] * D
        dT = moved(T) + KAPPA / ps * (work - T * column)
        return {"u": du, "v": dv, "T": dT, "q": moved(q), "ps": plain(u, now["v"], now["ps"], lev.thickness)}

    def diffusion(self, before):
        """−(δ⁴ in longitude + δ⁴ in latitude)/(16 τ) of u, v, T, q."""
        out = {}
        for name in "uvTq":
            x = before[name]
            lon = _east(_east(x)) + _west(_west(x)) - 4 * (_east(x) + _west(x)) + 6 * x

            def second(y, v=name == "v"):
                if v:
                    flux = np.concatenate([np.zeros_like(y[:1]), self.cos[1:-1] * np.diff(y[1:], axis=0)])
                    flux = np.concatenate([flux, np.zeros_like(y[:1])])  # across mass rows 0 … nj − 1
                    change = np.zeros_like(y)
                    change[1:] = np.diff(flux, axis=0) / self.edge[1:-1]
                    return change
                return np.diff(self.edge * self._jump(y), axis=0) / self.cos

            out[name] = -(lon + second(second(x))) / (16 * DAMPING)
        return out

    def filter(self, tendencies):
        """Short waves near the poles."""
        s = np.arange(self.problem.ni // 2 + 1)
        wave = np.sin(s * self.dlam / 2)
        wave[0] = 1e-300
        out = {}
        for name, x in tendencies.items():
            cos = self.edge[:-1] if name == "v" else self.cos
            factor = np.minimum(1.0, cos / (0.5 * wave))
            factor[..., 0] = 1.0
            factor[cos[:, 0, 0] >= 0.5] = 1.0
            factor = factor[:, 0] if name == "ps" else factor
            out[name] = np.fft.irfft(np.fft.rfft(x) * factor, self.problem.ni)
        out["v"][0] = 0.0
        return out

    def correction(self, explicit):
        """−Δt ∇G and the like, to be added to Yᵉ."""
        dt, lev, nj, ni = self.problem.dt, self.levels, self.problem.nj, self.problem.ni
        D = self.divergence(explicit["u"], self._with_pole(explicit["v"]))
        G = np.einsum("kl,jli->jki", lev.gamma, explicit["T"]) + R * T_REF / P_REF * explicit["ps"][:, None]
        waves = lev.gamma @ lev.tau + R * T_REF * lev.thickness
        rhs = np.einsum("mk,jki->jmi", lev.inverse, G - dt * np.einsum("kl,jli->jki", waves, D))
        hat = np.fft.rfft(rhs)
        south = self.edge[:-1, 0, 0] / (self.cos[:, 0, 0] * (RADIUS * self.dphi) ** 2)
        north = self.edge[1:, 0, 0] / (self.cos[:, 0, 0] * (RADIUS * self.dphi) ** 2)
        for s in range(ni // 2 + 1):
            symbol = (2 * np.sin(s * self.dlam / 2) / (RADIUS * self.cos[:, 0, 0] * self.dlam)) ** 2
            laplace = -np.diag(symbol + south + north) + np.diag(south[1:], -1) + np.diag(north[:-1], 1)
            for m, c2 in enumerate(lev.speed2):
                hat[:, m, s] = np.linalg.solve(np.eye(nj) - dt * dt * c2 * laplace, hat[:, m, s])
        G = np.einsum("km,jmi->jki", lev.modes, np.fft.irfft(hat, ni))
        du = -dt * (_east(G) - G) / (RADIUS * self.cos * self.dlam)
        dv = -dt * self._jump(G) / (RADIUS * self.dphi)
        D = D + self.divergence(du, dv)
        dT = -dt * np.einsum("kl,jli->jki", lev.tau, D)
        dps = -dt * P_REF * np.einsum("k,jki->ji", lev.thickness, D)
        return {"u": du, "v": dv[:-1], "T": dT, "q": 0.0, "ps": dps}


class ReferenceColumns:
    """Physics of one forecast: what the records keep of it, and what it adds to a step."""

    def __init__(self, problem: Problem, fields: dict[str, np.ndarray]):
        self.problem, self.levels, self.surface = problem, vertical(problem.levels), fields["surface"]
        self.kept = {name: fields[name].copy() for name in ("cloud", "heating", "rain")}

    def radiate(self, T, q, ps) -> None:
        """The heating, K/s: every half level sees every layer through what lies between them."""
        nj, levels, ni = T.shape
        half = self.levels.half[:, None] * ps[:, None]
        layer = (np.maximum(q, 0.0) + Q_0) * np.diff(half, axis=1) / GRAVITY
        path = np.concatenate([np.zeros((nj, 1, ni)), np.cumsum(layer, axis=1)], axis=1)
        source = np.concatenate([STEFAN * T**4, (STEFAN * self.surface**4)[:, None]], axis=1)
        flux = np.zeros((nj, levels + 1, ni))
        for absorb in ABSORPTION:
            seen = np.exp(-np.minimum(absorb * np.abs(path[:, :, None] - path[:, None]), 700.0))  # (nj, half, half, ni)
            gain = np.diff(seen, axis=2)  # over a layer: negative below a half level, positive above it
            for k in range(levels + 1):
                up = seen[:, k, levels] * source[:, levels] - (gain[:, k, k:] * source[:, k:levels]).sum(1)
                down = (gain[:, k, :k] * source[:, :k]).sum(1)
                flux[:, k] += (up - down) / BANDS
        self.kept["heating"] = np.diff(flux, axis=1) * (GRAVITY / CP) / np.diff(half, axis=1)

    def step(self, new, ps, dt: float) -> dict[str, np.ndarray]:
        """What ``dt`` of column work adds to u, v, T and q of the ``new`` time level; ``ps`` is the level before."""
        change = {name: np.zeros_like(new[name]) for name in "uvTq"}
        cloud, sigma, thick = self.kept["cloud"], self.levels.full, self.levels.thickness
        for j, i in np.ndindex(ps.shape):
            rain = snow = 0.0
            for k in range(len(sigma)):
                deficit = min(float(new["q"][j, k, i]), 0.0)
                T = float(new["T"][j, k, i]) + dt * float(self.kept["heating"][j, k, i])
                q, water = float(new["q"][j, k, i]) - deficit, float(cloud[j, k, i])
                p, dp = sigma[k] * ps[j, i], thick[k] * ps[j, i]
                T, q, cloud[j, k, i], _, rain, snow = plain_level(T, q, water, p, dp, rain, snow, dt)
                change["T"][j, k, i], change["q"][j, k, i] = T - new["T"][j, k, i], q + deficit - new["q"][j, k, i]
            self.kept["rain"][j, i] += 0.5 * dt * (rain + snow)
        drag = (np.maximum(0.0, (sigma - DRAG_ABOVE) / (1 - DRAG_ABOVE)) * DRAG * dt)[:, None]
        for name in "uv":
            change[name] = new[name] / (1 + drag) - new[name]
        return change


def forecast(problem: Problem, fields: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """The state at the end, named as in ``State.fields``, from a start whose time levels are equal."""
    model, columns, names = WholeArrays(problem), ReferenceColumns(problem, fields), ("u", "v", "T", "q", "ps")
    now = {name: fields[name].copy() for name in names}
    before = {name: fields[f"{name}_before"].copy() for name in names}

    def physics(step, new, dt):
        if not problem.physics:
            return {}
        if step in problem.radiation_steps:
            columns.radiate(now["T"], new["q"], now["ps"])
        return columns.step(new, now["ps"], dt)

    for step in range(problem.steps):
        rates, mixing = model.tendencies(now, fields["phis"]), model.diffusion(before)
        rates = model.filter({name: rates[name] + mixing.get(name, 0.0) for name in names})
        if step == 0:
            new = {name: before[name] + problem.dt * rates[name] for name in names}
            added = physics(step, new, problem.dt)
            now, before = {name: new[name] + added.get(name, 0.0) for name in names}, now
            continue
        added = physics(step, {n: before[n] + 2 * problem.dt * rates[n] for n in names}, 2 * problem.dt)
        explicit = {n: 2 * (before[n] - now[n]) + 2 * problem.dt * rates[n] + added.get(n, 0.0) for n in names}
        extra = model.correction(explicit)
        change = {name: explicit[name] + extra[name] for name in names}
        new = {name: change[name] + 2 * now[name] - before[name] for name in names}
        before = {name: now[name] + EPSILON * change[name] for name in names}
        now = new
    found = {**{n: now[n] for n in names}, **{f"{n}_before": before[n] for n in names}, "phis": fields["phis"]}
    return found | (columns.kept if problem.physics else {})
