"""Weighted least squares on RAPPOR's bit counts: shares of chosen texts with standard errors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.local.rappor.design import Design

if TYPE_CHECKING:
    from bruit.local.rappor.tally import RapporTally


@dataclass(frozen=True, eq=False)
class Bits:
    """The unbiased share of respondents who set each bit of each cohort, with its weight.

    t_ij / N_j with t_ij = (c_ij - (p + fq/2 - fp/2) N_j) / ((1 - f)(q - p))                        [docs/spec.md S2.19]
    The weight is one over the variance s (1 - s) / (N_j (q* - p*)^2), s being the cohort's mean share of ones.
    """

    shares: NDArray[np.float64]
    weights: NDArray[np.float64]
    sizes: NDArray[np.float64]
    width: int
    if_zero: float
    if_one: float

    @property
    def per_answer(self) -> NDArray[np.float64]:
        """The reciprocal of the number of respondents in each cohort; 0 for an empty cohort."""
        sizes = self.sizes[:: self.width]
        return np.divide(1.0, sizes, out=np.zeros_like(sizes), where=sizes > 0)

    @property
    def gap(self) -> float:
        """The difference q* - p*: how much more often a true one is reported as one than a zero is."""
        return self.if_one - self.if_zero

    def variance(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The variance of each bit's estimate for given true shares; infinite in a cohort without reports."""
        lowest = 1 / (2 * np.maximum(self.sizes, 1))  # half a respondent: no bit is known for certain
        reported = self.if_zero + self.gap * np.clip(shares, lowest, 1 - lowest)
        return _over(reported * (1 - reported), self.sizes * self.gap**2, np.inf)

    def noise(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The part of each bit's variance that is due to the privacy noise; 0 in a cohort without reports."""
        real = np.clip(shares, 0, 1)
        drawn = real * self.if_one * (1 - self.if_one) + (1 - real) * self.if_zero * (1 - self.if_zero)
        return _over(drawn, self.sizes * self.gap**2, 0.0)


def bits_of(tally: RapporTally) -> Bits:
    """The unbiased bit shares of a tally, cohort after cohort."""
    people = tally.respondents.astype(np.float64)[:, None]
    if not people.any():
        raise InvalidArgument("an empty survey has nothing to decode: tally at least one report")
    if_zero, if_one = (float(chance) for chance in tally.protocol.law.report.probabilities()[:, 1])
    observed = tally.counts / np.maximum(tally.people[:, None], 1)
    shares = np.where(people > 0, (observed - if_zero) / (if_one - if_zero), 0.0)
    width = tally.protocol.bits
    sizes = np.repeat(people.ravel(), width)
    bare = Bits(shares.ravel(), np.zeros(0), sizes, width, if_zero, if_one)
    usual = np.repeat(np.average(shares, axis=1), width)
    return replace(bare, weights=1 / bare.variance(usual))


@dataclass(frozen=True, eq=False)
class Shares:
    """Least-squares shares, their standard errors, and the standard deviation due to the privacy noise alone."""

    values: NDArray[np.float64]
    errors: NDArray[np.float64]
    noise: NDArray[np.float64]


def least_squares(design: Design, bits: Bits, chosen: NDArray[np.int64], expected: NDArray[np.float64]) -> Shares:
    """The shares of the chosen columns, fitted with a background for all other texts by weighted least squares.

    b = (X'WX)^-1 X'W t with covariance (X'WX)^-1 X'W V W X (X'WX)^-1. V has the variance of each bit on its diagonal,
    times the residuals' mean square where that is above one, and beside it, between two bits of a cohort,
    (share of the respondents who set both - product of their shares) / N_j: one report carries both bits.
    """
    weights = 1 / bits.variance(expected)  # nought in a cohort without reports
    freedom = int((weights > 0).sum()) - len(chosen) - 1
    if freedom < 1:
        raise InvalidArgument(
            f"{len(chosen)} shares cannot be told from {(weights > 0).sum()} bits: ask about fewer, or select some"
        )
    blocks = list(_blocks(design, chosen, bits.width))
    parts = list(zip(blocks, weights.reshape(-1, bits.width), bits.shares.reshape(-1, bits.width), strict=True))
    inverse = np.linalg.pinv(sum(x.T @ (x * w[:, None]) for x, w, _ in parts), hermitian=True)
    solution = inverse @ sum(x.T @ (w * t) for x, w, t in parts)
    square = sum(float(w @ (t - x @ solution) ** 2) for x, w, t in parts) / freedom
    texts = np.append(np.clip(solution[:-1], 0, 1), 0.0)
    between = sum(_between(x, w, texts) * share for (x, w, _), share in zip(parts, bits.per_answer, strict=True))
    variance = max(1.0, square) * np.diag(inverse) + np.einsum("ij,jk,ki->i", inverse, between, inverse)
    noises = bits.noise(expected).reshape(-1, bits.width)
    noise = sum(((x * w[:, None]) @ inverse).T ** 2 @ v for (x, w, _), v in zip(parts, noises, strict=True))
    return Shares(solution[:-1], np.sqrt(np.maximum(variance, 0))[:-1], np.sqrt(noise)[:-1])


def _blocks(design: Design, chosen: NDArray[np.int64], width: int) -> Iterator[NDArray[np.float64]]:
    """The chosen columns and a last one of ones, cohort after cohort."""
    rows, columns = design.entries(chosen)
    order = np.argsort(rows, kind="stable")
    rows, columns = rows[order], columns[order]
    edges = np.searchsorted(rows, np.arange(0, design.height + 1, width))
    for cohort, (start, end) in enumerate(pairwise(edges)):
        block = np.zeros((width, len(chosen) + 1))
        block[:, -1] = 1.0
        block[rows[start:end] - cohort * width, columns[start:end]] = 1.0
        yield block


def _between(block: NDArray[np.float64], weights: NDArray[np.float64], texts: NDArray[np.float64]) -> Any:
    """N X'W V W X of one cohort, for the part of V that stands between its bits.

    With H = X'WX it is H B H - u u' - X'W D W X, B the shares of the texts, u = X'W m, D = diag(m - m^2) of the mean
    shares m of the bits. The background is no text: it sets no two bits together.
    """
    heavy, means = block * weights[:, None], block @ texts
    gram, lean = heavy.T @ block, heavy.T @ means
    return (gram * texts) @ gram - np.outer(lean, lean) - (heavy * (means - means**2)[:, None]).T @ heavy


def _over(above: NDArray[np.float64], below: NDArray[np.float64], without: float) -> NDArray[np.float64]:
    return np.divide(above, below, out=np.full_like(above, without), where=below > 0)
