"""Figures of a classifier from a noisy histogram and two noisy sums: post-processing that costs nothing.

Every share p is a ratio A/B of noisy numbers. Its interval holds the p at which A - pB is no further from zero than
sampling and the noise of A - pB itself allow: where B drowns that is every p.          [Fieller 1954; Wilson 1927]
"""

from __future__ import annotations

from dataclasses import dataclass
from math import log
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bruit.channels import IntegerNoise, laplace_variance
from bruit.core.losses import DiscreteLaplace
from bruit.learning.range_shares import RangeShares

Floats = NDArray[np.float64]
Figure = tuple[float, float, float, float]
"""A value, the ends of its interval, and the deviation that noise alone gives it."""

FINE = 1 << 10
"""Grid steps of a clipped log loss, and of its square."""

LEAST_CHANCE = 1e-3
"""A chance below this counts as this: the largest log loss of a row is ln 1000."""

MOST_WORTH = 3
"""An AUC of one half is as certain as a share of three times the rows of the rarer class; a greater one is less so.
                                                                                              [Hanley & McNeil 1982]"""


@dataclass(frozen=True)
class NoiseOfRatio:
    """The variance that noise gives A - pB: of A, shared by both, and of B."""

    top: float
    shared: float
    total: float

    def at(self, share: float) -> float:
        """The variance at a share, var(A) - 2p cov(A, B) + p^2 var(B)."""
        return self.top - 2 * share * self.shared + share**2 * self.total


@dataclass(frozen=True)
class ClassificationFigures:
    """The figures of `cells` (true class, predicted class, range of confidence) and `sums` (log losses, squares).

    size           the public number of rows, or None
    histogram      the noise of each cell
    losses         the noise of each sum, in steps of 1/FINE
    rows           the most rows of one person that count: as many people may be that much fewer
    """

    cells: Floats
    sums: Floats
    classes: tuple[Any, ...]
    histogram: IntegerNoise
    losses: IntegerNoise
    size: int | None
    rows: int
    confidence: float

    @property
    def reach(self) -> float:
        """Standard deviations to either side of a normal figure."""
        return float(ndtri((1 + self.confidence) / 2))

    @property
    def noise(self) -> float:
        """The standard deviation of the noise of one cell."""
        return float(np.sqrt(laplace_variance(_scale(self.histogram))))

    @property
    def table(self) -> float:
        """How many rows there are: the public number, or the noisy one, at least one."""
        return float(self.size) if self.size is not None else max(float(self.cells.sum()), 1.0)

    def accuracy(self) -> Figure:
        """The share of right rows."""
        right, each = float(np.einsum("iib->", self.cells)), self.noise**2
        among = len(self.cells) * self.cells.shape[2]
        if self.size is not None:
            return self._share(right, float(self.size), self.table, NoiseOfRatio(each * among, 0, 0))
        noise = NoiseOfRatio(each * among, each * among, each * self.cells.size)
        return self._share(right, float(self.cells.sum()), self.table, noise)

    def auc(self) -> Figure:
        """The chance that a row of the second class is given more than one of the first, ties counting half.

        A counts the pairs in that order and B all pairs; a draw of noise moves A - pB by what the other class has above
        or below its cell. The variance of sampling is DeLong's. Near one it is too small: what is found counts as a
        share of so many rows as have that variance, no more than three of each of the rarer class.
                                                                       [DeLong et al. 1988; Hanley & McNeil 1982]
        """
        first, second = np.concatenate([self.cells[:, 0, ::-1], self.cells[:, 1, :]], axis=1)  # growing chance
        many, few = float(first.sum()), float(second.sum())
        below, above = np.cumsum(first) - first / 2, few - np.cumsum(second) + second / 2
        pairs, cells = many * few, len(first)
        noise = self.noise**2 * np.array(
            [above @ above + below @ below, few * above.sum() + many * below.sum(), cells * (few**2 + many**2)]
        )
        found = float(np.clip(_ratio(float(second @ below), pairs), 0, 1))
        zeros, ones = max(many, 1.0), max(few, 1.0)
        spread = max(first @ (above / ones - found) ** 2, 0) / zeros**2
        spread += max(second @ (below / zeros - found) ** 2, 0) / ones**2
        rarer = min(zeros, ones)
        inside = float(np.clip(found, 0.5 / rarer, 1 - 0.5 / rarer))
        worth = min(inside * (1 - inside) / max(spread, 1e-300), MOST_WORTH * rarer)
        return self._share(float(second @ below), pairs, worth, NoiseOfRatio(*map(float, noise)))

    def log_loss(self) -> Figure:
        """The mean of the clipped log losses in natural units.

        Its noise is one draw of a law with long tails, not a sum of many: its own width is taken, not deviations.
        """
        most = -log(LEAST_CHANCE)
        mean, square = np.clip(self.sums / self.table, 0, 1)
        each = float(np.sqrt(laplace_variance(_scale(self.losses)))) / FINE / self.table
        count = 0.0 if self.size is not None else mean * self.noise * float(np.sqrt(self.cells.size)) / self.table
        deviation = float(np.hypot(each, count))
        spread = min(max(square + each - mean**2, 0.0), mean * (1 - mean) + each) / self.table * self.rows
        drawn = self.losses.half_width(self.confidence) / FINE / self.table
        half = float(np.hypot(self.reach * np.sqrt(spread + count**2), drawn))
        found = (mean, max(mean - half, 0.0), min(mean + half, 1.0), deviation)
        return tuple(float(most * part) for part in found)  # type: ignore[return-value]

    def confusion(self) -> dict[str, list[Any]]:
        """Rows of the confusion matrix."""
        names = [str(each) for each in self.classes]
        counts = self.cells.sum(axis=2)
        half = self.reach * self.noise * float(np.sqrt(self.cells.shape[2]))
        places = [(i, j) for i in range(len(names)) for j in range(len(names))]
        return {
            "true": [names[i] for i, _ in places],
            "predicted": [names[j] for _, j in places],
            "rows": [float(counts[place]) for place in places],
            "noise": [half] * len(places),
        }

    def calibration(self) -> dict[str, list[Any]]:
        """The share of right rows in every range of confidence; its interval is the whole where rows drown in noise."""
        classes, bins = len(self.cells), self.cells.shape[2]
        every, right = self.cells.sum(axis=(0, 1)), np.einsum("iib->b", self.cells)
        cells = classes, classes * (classes - 1)
        shares = RangeShares(right, every - right, _scale(self.histogram), cells, self.rows)
        lows, highs = shares.ends(self.confidence)
        edges = 1 / classes + (1 - 1 / classes) * np.arange(bins + 1) / bins
        return {
            "from": edges[:-1].tolist(),
            "to": edges[1:].tolist(),
            "rows": every.tolist(),
            "right": shares.found.tolist(),
            "low": lows.tolist(),
            "high": highs.tolist(),
        }

    def _share(self, top: float, total: float, worth: float, noise: NoiseOfRatio) -> Figure:
        """A share with the interval of so many rows (of people: fewer) and of its noise."""
        found = float(np.clip(_ratio(top, total), 0, 1))
        low, high = _interval(top, total, worth / self.rows, noise, self.reach)
        deviation = float(np.sqrt(max(noise.at(found), 0.0))) / max(abs(total), 1.0)
        return found, min(low, found), max(high, found), deviation


def _scale(noise: IntegerNoise) -> float:
    assert isinstance(noise.loss, DiscreteLaplace)
    return float(noise.loss.scale)


def _ratio(top: float, total: float) -> float:
    """The share of a total; where noise left none, that of one."""
    return top / max(total, 1.0)


def _interval(top: float, total: float, rows: float, noise: NoiseOfRatio, reach: float) -> tuple[float, float]:
    """The shares p with (A - pB)^2 <= z^2 (B^2 p (1 - p) / rows + noise at p); all, where the total drowns."""
    z, all_ = reach**2, total**2
    a = all_ + z * all_ / rows - z * noise.total
    b = top * total + z * all_ / rows / 2 - z * noise.shared
    c = top**2 - z * noise.top
    if a <= 0:
        return 0.0, 1.0
    root = float(np.sqrt(max(b * b - a * c, 0.0)))
    return max((b - root) / a, 0.0), min((b + root) / a, 1.0)
