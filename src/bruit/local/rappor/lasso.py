"""The LASSO fit of a RAPPOR decoding, with a data-driven penalty, and its debiased scores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtri, ndtri

from bruit.local.rappor._decoding_kernels import descend
from bruit.local.rappor.design import Design

_PENALTIES: Final = (4.0, 3.0, 2.0, 1.5, 1.2, 1.0, 0.8, 0.6, 0.4)
"""In standard deviations of a column's own estimate, from the strongest: each fit starts from the last."""

_TOLERANCE: Final = 1e-3  # of a standard deviation
_PASSES: Final = 500
_PATIENCE: Final = 1.01
"""The search stops at weaker penalties once the residual spread exceeds the least one by this factor."""


_EVEN: Final = 0.05
"""The level of the test for uneven residuals; a stricter one lets false texts through."""


@dataclass(frozen=True, eq=False)
class Fit:
    """Fitted shares of the candidates, the background of all other texts, and the residuals.

    `freedom` is df / n. `spread` estimates the deviation of a debiased share over that of the noise alone, which is
    known and so a floor: it is above one where texts that were not listed or not found, or respondents who reported
    many times, add to the noise.
    """

    shares: NDArray[np.float64]
    residual: NDArray[np.float64]
    background: float
    norms: NDArray[np.float64]
    freedom: float
    spread: float

    def scores(self, design: Design, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The z-score of each candidate's debiased share: standard normal for a text that nobody has.

        u = b + X'W r / (norm (1 - df / n)), deviation spread / sqrt(norm), where norm = x'W x of the column without its
        mean, and spread^2 = r'W r / (n (1 - df / n)^2)                 [Javanmard & Montanari 2014]
        """
        norms = self.norms * (1 - self.norms / weights.sum())
        pull = design.sums(weights * self.residual) / (1 - self.freedom)
        moved = np.divide(pull, norms, out=np.zeros_like(pull), where=norms > 0)
        return np.asarray((self.shares + moved) * np.sqrt(norms) / (self.spread * self._unevenness(design, weights)))

    def _unevenness(self, design: Design, weights: NDArray[np.float64]) -> NDArray[np.float64]:
        """The deviation of a column's own residuals over that of all, where it is beyond chance; else one.

        A text that somebody has is seen in all its bits. One that shares a few bits with a frequent text which is no
        candidate is seen in those alone: its mean is as uncertain as its bits are uneven.
        """
        ones = np.diff(design.starts) - 1
        squares = design.sums(weights * self.residual**2)
        means = np.divide(design.sums(weights * self.residual) ** 2, self.norms, where=self.norms > 0, out=squares * 0)
        ratio = (squares - means) / np.maximum(ones, 1) / (self.spread * (1 - self.freedom)) ** 2
        by_chance = chdtri(np.maximum(ones, 1), _EVEN) / np.maximum(ones, 1)
        return np.sqrt(np.where((ratio > by_chance) & (ones > 0), ratio, 1.0))


def fitted(design: Design, values: NDArray[np.float64], weights: NDArray[np.float64], level: float) -> Fit:
    """A two-round LASSO fit: candidates that pass Bonferroni's test in the first round are not shrunk in the second."""
    first = _path(design, values, weights, np.ones(len(design)), None)
    certain = first.scores(design, weights) > -ndtri(level / len(design))
    if not certain.any():
        return first
    return _path(design, values, weights, np.where(certain, 0.0, 1.0), first)


def _path(
    design: Design,
    values: NDArray[np.float64],
    weights: NDArray[np.float64],
    relative: NDArray[np.float64],
    start: Fit | None,
) -> Fit:
    """Fits the LASSO for one penalty after another, from strong to weak, and returns the fit that predicts best.

    The best is the one with the least generalised cross-validation error, its `spread`.
    [Golub, Heath & Wahba 1979]
    """
    norms = design.sums(weights)
    shares = np.zeros(len(design)) if start is None else start.shares.copy()
    residual = values.copy() if start is None else start.residual.copy()
    background = np.array([0.0 if start is None else start.background])
    best: Fit | None = None
    for penalty in _PENALTIES:
        penalties = penalty * relative * np.sqrt(norms)
        descend(
            design.starts,
            design.rows,
            weights,
            norms,
            penalties,
            shares,
            residual,
            background,
            _TOLERANCE,
            _PASSES,
        )
        found = _fit(shares, residual, float(background[0]), norms, weights)
        if best is None or found.spread < best.spread:
            best = found
        elif found.spread > _PATIENCE * best.spread:
            break
    assert best is not None
    return best


def _fit(
    shares: NDArray[np.float64],
    residual: NDArray[np.float64],
    background: float,
    norms: NDArray[np.float64],
    weights: NDArray[np.float64],
) -> Fit:
    rows = int((weights > 0).sum())
    freedom = min((int((shares > 0).sum()) + 1) / rows, 1 - 1 / (rows + 1))
    spread = float(np.sqrt(weights @ residual**2 / rows)) / (1 - freedom)
    return Fit(shares.copy(), residual.copy(), background, norms, freedom, max(spread, 1.0))
