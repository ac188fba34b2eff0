"""A grid-free oracle: the hockey-stick divergence of a composition as a contour integral.

delta(epsilon) = (1 / 2 pi i) * integral over Re t = c > 0 of exp(K(t) - t epsilon) / (t (t + 1)) dt,
K(t) = steps * ln E_P exp(t * loss), the moments by the trapezoid rule in x. Nothing here is shared with bruit.
"""

from typing import Any

import numpy as np
from scipy import optimize, special


class SampledGaussianOracle:
    """P = (1-p) N(0) + p N(1) against Q = (1-q) N(0) + q N(-1), deviation `noise`, composed `steps` times."""

    def __init__(self, p: Any, q: Any, noise: Any, steps: Any) -> None:
        self.steps = steps
        spacing = min(noise / 6, noise**2 / 3) / 3
        self.x = np.arange(-14 * noise - 1, 14 * noise + 41, spacing)
        base, right, left = (
            -0.5 * ((self.x - mean) / noise) ** 2 - np.log(noise * np.sqrt(2 * np.pi) / spacing) for mean in (0, 1, -1)
        )
        with np.errstate(divide="ignore"):
            self.log_p = np.logaddexp(np.log1p(-p) + base, np.log(p) + right) if p < 1 else right
            log_q = np.logaddexp(np.log1p(-q) + base, np.log(q) + left) if q < 1 else left
        self.noise = noise
        self.loss = self.log_p - log_q

    def log_moments(self, t: Any) -> Any:
        """ln E_P exp(t * loss), steps times."""
        out = np.empty(len(t), complex)
        for i in range(0, len(t), 512):
            exponents = np.outer(t[i : i + 512], self.loss) + self.log_p
            top = exponents.real.max(axis=1, keepdims=True)
            out[i : i + 512] = top[:, 0] + np.log(np.exp(exponents - top).sum(axis=1))
        return self.steps * out

    def contour(self, delta: Any) -> Any:
        """An abscissa, a spacing and a reach for which the trapezoid rule along the contour is exact to 1e-14.

        The rule returns the sum of the tilted divergence over shifts by the period 2 pi / h: the period has to be
        longer than the tilted law is wide (chords of K bound its two tails) and long enough for the pole at 0.
        """
        tilts = np.geomspace(1e-3, 35, 250)
        moments = self.log_moments(tilts + 0j).real
        gaps, rises = tilts - tilts[:, None], moments - moments[:, None]
        with np.errstate(divide="ignore", invalid="ignore"):
            high = np.where(gaps > 0, (rises + 45) / gaps, np.inf).min(axis=1)
            low = np.where(gaps < 0, (rises + 45) / gaps, -np.inf).max(axis=1)
        width = np.maximum(high - np.minimum(low, 0), (50 - np.log(delta)) / tilts)
        guide = ((moments - np.log(delta)) / tilts).min()
        width[moments - tilts * guide - np.log(delta) > 15] = np.inf
        best = int(np.argmin(width))
        c, h, height = tilts[best], 2 * np.pi / width[best], moments[best]
        weight = c * self.loss + self.log_p
        fastest = np.abs(np.diff(self.loss[weight > weight.max() - 40])).max()
        t, found = c + 1j * h * np.arange(64), []
        while True:
            found.append(self.log_moments(t))
            if found[-1].real.max() - height < -36 and len(found) > 1:
                break
            if len(found) > 8 or t[-1].imag * fastest > 4:  # too fast for the nodes in x
                raise ArithmeticError("the contour integral does not converge here")
            t = c + 1j * h * np.arange(len(np.concatenate(found)), 2 * len(np.concatenate(found)))
        values = np.concatenate(found)
        return c + 1j * h * np.arange(len(values)), h, values

    def epsilon(self, delta: Any) -> Any:
        t, h, moments = self.contour(delta)
        weights = np.where(np.arange(len(t)) == 0, 0.5, 1.0) * h / np.pi

        def log_delta(epsilon: Any) -> Any:
            exponent = moments - t * epsilon
            top = exponent.real.max()
            total = (np.exp(exponent - top) / (t * (t + 1)) * weights).real.sum()
            return top + np.log(max(total, 1e-300)) - np.log(delta)

        high = max(((moments[0].real - np.log(delta)) / t[0].real), 0.0)  # Chernoff: too much
        down = (high + 1e-3) / 1000
        low = high - down
        while low > 0 and log_delta(low) <= 0:
            high, down = low, 1.5 * down
            low = high - down
        if low <= 0 and log_delta(0.0) <= 0:
            return 0.0
        return optimize.brentq(log_delta, max(low, 0.0), high, xtol=1e-12, rtol=1e-13)


def single_delta(p: float, q: Any, noise: float, epsilon: Any) -> Any:
    """The exact divergence of one step: P and e^epsilon Q compared above the one x where they are equal."""
    variance = noise**2

    def gap(x: Any) -> Any:
        up = np.logaddexp(np.log1p(-p) if p < 1 else -np.inf, np.log(p) + (2 * x - 1) / (2 * variance)) if p else 0.0
        down = np.logaddexp(np.log1p(-q) if q < 1 else -np.inf, np.log(q) + (-2 * x - 1) / (2 * variance)) if q else 0.0
        return up - down - epsilon

    x = optimize.brentq(gap, -60 * noise - 1e3, 60 * noise + 1e3, xtol=1e-13)

    def above(mean: Any) -> Any:
        return special.ndtr((mean - x) / noise)

    p_mass = (1 - p) * above(0) + p * above(1)
    return p_mass - np.exp(epsilon) * ((1 - q) * above(0) + q * above(-1))
