"""Dominating pairs: two laws P and Q that are at least as easy to tell apart as any two outputs of a release.

Each pair knows its grid of losses and, only to choose that grid well, its log-moments ln E_P exp(tilt * loss).
"""

import math
from dataclasses import dataclass
from enum import Enum
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.privacy.accounting.gaussian import UNIT_ROUNDOFF
from bruit.privacy.accounting.sampled_gaussian import log_mixture
from bruit.privacy.pld.loss_grid import LossGrid, connect_dots, dots_of_cells, log_moments

Floats = NDArray[np.float64]
FEW_ATOMS = 4096


class Pair(Protocol):
    """Two laws P and Q, described by the distribution of ln dP/dQ under P."""

    @property
    def lattice(self) -> Fraction | None:
        """A step of which every loss is an integer multiple, so that its grid is exact; None if there is none."""
        ...

    @property
    def top(self) -> float:
        """An upper bound on the loss; infinite where there is none."""
        ...

    @property
    def difference(self) -> float:
        """An upper bound on the total variation distance of P and Q."""
        ...

    def span(self, tail: float) -> float:
        """About the distance between the lowest and the highest loss on the grid."""
        ...

    def grid(self, step: float, tail: float) -> LossGrid:
        """Discretises the pair pessimistically; the highest losses, of P-mass at most `tail`, become infinite."""
        ...

    def cumulants(self, tilts: Floats, tail: float) -> Floats:
        """Approximately ln E_P exp(tilt * loss) for each tilt."""
        ...


@dataclass(frozen=True, eq=False)
class AtomPair:
    """A pair with finitely many losses in rising order, each with its P-mass."""

    losses: Floats
    masses: Floats
    infinite: float = 0.0
    lattice: Fraction | None = None

    @property
    def top(self) -> float:
        """The highest loss; infinite where some mass has infinite loss."""
        return math.inf if self.infinite > 0 else float(self.losses[-1])

    @property
    def difference(self) -> float:
        """The trivial bound 1 on the total variation distance; no better one is needed."""
        return 1.0

    def span(self, tail: float) -> float:
        """The distance from the lowest kept loss to the highest."""
        losses = self._trim(tail)[0]
        return float(losses[-1] - losses[0])

    def grid(self, step: float, tail: float) -> LossGrid:
        """Discretises the atoms pessimistically; exact for atoms that lie on the grid."""
        return connect_dots(*self._trim(tail), step)

    def cumulants(self, tilts: Floats, tail: float) -> Floats:
        """Ln E exp(tilt * loss) for each tilt: exact for few atoms, else from a coarser grid."""
        losses, masses, _ = self._trim(tail)
        if len(losses) > FEW_ATOMS:
            coarse = connect_dots(losses, masses, 0.0, float(losses[-1] - losses[0]) / FEW_ATOMS)
            losses, masses = coarse.losses, coarse.masses
        return log_moments(losses, masses, tilts)

    def _trim(self, tail: float) -> tuple[Floats, Floats, float]:
        """Makes the highest atoms of total mass at most `tail` infinite, and raises the lowest ones."""
        if len(self.losses) <= FEW_ATOMS:
            return self.losses, self.masses, self.infinite
        end = len(self.losses) - int(np.searchsorted(np.cumsum(self.masses[::-1]), tail))
        start = int(np.searchsorted(np.cumsum(self.masses), tail))
        masses = self.masses[start:end].copy()
        masses[0] += self.masses[:start].sum()
        return self.losses[start:end], masses, self.infinite + float(self.masses[end:].sum())


@dataclass(frozen=True)
class LaplacePair:
    """Laplace noise of scale 1 moved by `shift`: losses +-shift with atoms, and a density between."""

    shift: float
    lattice: Fraction | None = None

    @property
    def top(self) -> float:
        """The largest loss, that of outputs below both centres."""
        return self.shift

    @property
    def difference(self) -> float:
        """The trivial bound 1 on the total variation distance; no better one is needed."""
        return 1.0

    def span(self, tail: float) -> float:
        """The distance between the two extreme losses."""
        del tail
        return 2 * self.shift

    def grid(self, step: float, tail: float) -> LossGrid:
        """Discretises the pair pessimistically, with the P-mass and Q-mass of each cell in closed form."""
        del tail
        top = math.ceil(self.shift / step)
        edges = np.clip(np.arange(-top, top + 1) * step, -self.shift, self.shift)
        p_mass = 0.5 * np.exp((edges[:-1] - self.shift) / 2) * np.expm1(np.diff(edges) / 2)
        q_mass = 0.5 * np.exp((-edges[:-1] - self.shift) / 2) * -np.expm1(-np.diff(edges) / 2)
        low = np.arange(-top, top) * step
        body = dots_of_cells(-top, step, p_mass, p_mass - np.exp(low) * q_mass, 0.0, 0.0)
        ends = connect_dots(
            np.array([-self.shift, self.shift]), np.array([0.5 * math.exp(-self.shift), 0.5]), 0.0, step
        )
        masses = body.masses.copy()
        masses[ends.first + top : ends.first + top + len(ends.masses)] += ends.masses
        return LossGrid(step, -top, masses, 0.0)

    def cumulants(self, tilts: Floats, tail: float) -> Floats:
        """Ln E exp(tilt * loss) for each tilt, computed on a fine grid."""
        coarse = self.grid(self.shift / 500, tail)
        return log_moments(coarse.losses, coarse.masses, tilts)


@dataclass(frozen=True)
class GaussianPair:
    """P = (1-p_rate) N(0) + p_rate N(+1) and Q = (1-q_rate) N(0) + q_rate N(-1), all with deviation `noise`.

    The loss grows with x in every case.
    """

    noise: float
    p_rate: float
    q_rate: float
    lattice: Fraction | None = None

    @property
    def top(self) -> float:
        """The largest loss; finite only when P is N(0) and Q a mixture that contains it."""
        return -math.log1p(-self.q_rate) if self.p_rate == 0 and self.q_rate < 1 else math.inf

    @property
    def shift(self) -> float:
        """The distance between the two shifted centres (2), or from the one that is shifted to the other (1)."""
        return 2.0 if self.p_rate and self.q_rate else 1.0

    @property
    def difference(self) -> float:
        """The total variation distance: the sampling rate times that of two unmixed Gaussians."""
        return max(self.p_rate, self.q_rate) * math.erf(self.shift / (math.sqrt(8) * self.noise))

    def delta(self, epsilon: float) -> float:
        """The delta of one release at an epsilon, rounded up: the integral of P - e^epsilon Q where it is positive.

        p R + (q - p - (e^epsilon - 1)(1 - q)) C - q e^epsilon L, where C, R and L are the normal masses above x around
        0, 1 and -1: written so that the parts of size one are gone before they cancel.
        """
        x = float(self.position(np.array([epsilon]))[0])
        if x == math.inf:
            return 0.0
        deviations = (np.array([0.0, 1.0, -1.0]) - x) / self.noise
        centre, right, left = special.ndtr(deviations)
        kept = self.q_rate - self.p_rate - math.expm1(epsilon) * (1 - self.q_rate)
        parts = np.array([self.p_rate * right, kept * centre, -self.q_rate * math.exp(epsilon) * left])
        # A normal mass z deviations out has a relative error of about z^2 roundoffs.
        slack = 16 * UNIT_ROUNDOFF * (1 + float((deviations**2).max())) * float(np.abs(parts).sum())
        return max(float(parts.sum()), 0.0) + slack

    def loss(self, x: Floats) -> Floats:
        """The loss ln dP/dQ at x."""
        variance = self.noise**2
        numerator = log_mixture(self.p_rate, (2 * x - 1) / (2 * variance))
        return np.asarray(numerator - log_mixture(self.q_rate, (-2 * x - 1) / (2 * variance)))

    def position(self, loss: Floats) -> Floats:
        """The output x at which the loss takes a value; -inf or +inf outside the range of the loss."""
        variance = self.noise**2
        if self.q_rate == 0:
            return np.asarray(variance * _log_odds(loss, self.p_rate) + 0.5)
        if self.p_rate == 0:
            return np.asarray(-variance * _log_odds(-loss, self.q_rate) - 0.5)
        # k u^2 - r (e^l - 1) u - k e^l = 0 with u = exp(x / variance), which is odd in the loss
        size = np.abs(loss)
        log_k = math.log(self.p_rate) - 0.5 / variance
        half = 0.5 * (1 - self.p_rate) * -np.expm1(-size)
        log_root = _log_root(half, log_k - size / 2)
        return np.asarray(np.sign(loss) * variance * (log_root + size - log_k))

    def span(self, tail: float) -> float:
        """The distance between the lowest and the highest loss, tails of mass `tail` cut off."""
        return float(np.diff(self._ends(tail))[0])

    def _ends(self, tail: float) -> Floats:
        upper = self.noise * -special.ndtri(tail / 2)
        if self.p_rate:
            upper = max(upper, 1 - self.noise * special.ndtri(min(0.5, tail / 2 / self.p_rate)))
        return self.loss(np.array([self.noise * special.ndtri(tail), upper]))

    def grid(self, step: float, tail: float) -> LossGrid:
        """Discretises the pair pessimistically, with normal masses that keep their digits in both tails."""
        lowest, highest = self._ends(tail) / step
        first, last = math.floor(lowest), max(math.ceil(highest), math.floor(lowest) + 1)
        losses = np.arange(first, last + 1) * step
        edges = self.position(losses)
        centre, right, left = (_cell_masses((edges - mean) / self.noise) for mean in (0, 1, -1))
        p_mass = (1 - self.p_rate) * centre + self.p_rate * right
        excess = self._excess(losses[:-1], centre[1:-1], right[1:-1], left[1:-1])
        return dots_of_cells(first, step, p_mass[1:-1], excess, float(p_mass[0]), float(p_mass[-1]))

    def _excess(self, low: Floats, centre: Floats, right: Floats, left: Floats) -> Floats:
        """P-mass minus e^loss times Q-mass in each cell, arranged so that nearly equal terms are not subtracted."""
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            grown_left = np.exp(low + np.log(left))
            near = (self.q_rate * np.exp(low) - self.p_rate - np.expm1(low)) * centre
            far = (1 - self.p_rate) * centre - (1 - self.q_rate) * np.exp(low + np.log(centre))
            kept = np.where(low < 30, near, far)
        return np.asarray(kept + self.p_rate * right - self.q_rate * grown_left)

    def cumulants(self, tilts: Floats, tail: float) -> Floats:
        """The log-moments by quadrature."""
        x = np.linspace(self.noise * special.ndtri(tail), 1 + self.noise * -special.ndtri(tail), 600)
        density = (1 - self.p_rate) * np.exp(-0.5 * (x / self.noise) ** 2)
        density += self.p_rate * np.exp(-0.5 * ((x - 1) / self.noise) ** 2)
        return log_moments(self.loss(x), density / density.sum(), tilts)


class Direction(Enum):
    """Which of two neighbours is P in a pair that is not symmetric."""

    REMOVE = 1
    ADD = -1
    EXCHANGE = 0


@dataclass(frozen=True)
class SampledPair:
    """A symmetric pair applied to a random sample of the records; see docs/accounting.md, Sampling."""

    base: Pair
    rate: float
    direction: Direction
    lattice: Fraction | None = None

    @property
    def top(self) -> float:
        """The highest loss of the base pair after mixing with the unsampled law."""
        if self.direction is Direction.ADD:
            return -math.log1p(self.rate * math.expm1(-self.base.top)) * (1 + 4 * UNIT_ROUNDOFF)
        if math.isinf(self.base.top):
            return math.inf
        return float(log_mixture(self.rate, np.array([self.base.top]))[0])

    @property
    def difference(self) -> float:
        """The sampling rate times the total variation distance of the base pair."""
        return self.rate * self.base.difference

    def span(self, tail: float) -> float:
        """The span of the base pair's losses, an upper bound since mixing brings losses together."""
        return self.base.span(tail)

    def grid(self, step: float, tail: float) -> LossGrid:
        """Discretises the base pair, mixes its losses by the sampling rate, and discretises again."""
        return connect_dots(*self._atoms(step, tail), step)

    def cumulants(self, tilts: Floats, tail: float) -> Floats:
        """The log-moments, computed on a coarse grid."""
        losses, masses, _ = self._atoms(max(self.span(tail), 1e-6) / 2000, tail)
        return log_moments(losses, masses, tilts)

    def _atoms(self, step: float, tail: float) -> tuple[Floats, Floats, float]:
        base = self.base.grid(step, tail)
        with np.errstate(divide="ignore"):
            q_mass = np.exp(np.log(base.masses) - base.losses)
        mixed = (1 - self.rate) * q_mass + self.rate * base.masses
        gain, rest = log_mixture(self.rate, base.losses), max(0.0, 1 - float(q_mass.sum()))
        floor = math.log1p(-self.rate)
        if self.direction is Direction.REMOVE:
            masses = np.append(mixed, (1 - self.rate) * rest)
            return np.append(gain, floor), masses, self.rate * base.infinite
        if self.direction is Direction.ADD:
            return np.append(-gain, -floor), np.append(q_mass, rest), 0.0
        above = base.losses > 0
        up, down, infinite = mixed[above], q_mass[above], self.rate * base.infinite
        zero = max(0.0, 1 - float(up.sum()) - float(down.sum()) - infinite)
        losses = np.concatenate([gain[above], -gain[above], [0.0]])
        return losses, np.concatenate([up, down, [zero]]), infinite


def _log_root(half: Floats, log_rest: Floats) -> Floats:
    """ln(half + sqrt(half^2 + e^(2 log_rest))), also where little noise leaves of the rest less than any float."""
    with np.errstate(divide="ignore"):
        near = np.log(half + np.hypot(half, np.exp(log_rest)))
        log_half = np.log(half)
        far = np.logaddexp(log_half, 0.5 * np.logaddexp(2 * log_half, 2 * log_rest))
    return np.asarray(np.where(log_rest > -300, near, far))


def _log_odds(loss: Floats, rate: float) -> Floats:
    """ln((e^loss - 1 + rate) / rate), -inf where it is not positive."""
    with np.errstate(divide="ignore"):
        near = np.log(np.maximum(np.expm1(np.minimum(loss, 30)) + rate, 0))
    far = loss + np.log1p((rate - 1) * np.exp(-np.maximum(loss, 30)))
    return np.asarray(np.where(loss < 30, near, far) - math.log(rate))


def _cell_masses(edges: Floats) -> Floats:
    """Standard normal mass below the first edge, between successive edges, and above the last."""
    below, above = special.ndtr(edges), special.ndtr(-edges)
    inner = np.where(edges[:-1] > 0, above[:-1] - above[1:], below[1:] - below[:-1])
    return np.concatenate([below[:1], np.maximum(inner, 0), above[-1:]])
