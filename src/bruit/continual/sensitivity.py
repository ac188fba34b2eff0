"""The sensitivity of a stream to one person, in exact integers, rounded up.

G = CᵀC has entries that are not negative and that fall in max(s, t) and in |s - t|, since c falls and stays above
zero. So of all people who come at most k times, any two w periods apart, the one who comes at 1, 1 + w, 1 + 2w, …
moves C x furthest (docs/continual.md, Lemma 3).
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from bruit.continual.factorisation import FIXED, Factor, repeated_exactly
from bruit.continual.factorisation.any_horizon import ANY_HORIZON, LONGEST, SQUARED_NORM
from bruit.continual.participation import Contribution, Participation
from bruit.core import ADD_OR_REMOVE_ONE, Neighbours

KEPT = 120
"""Bits of c that are squared. What c lost before is below one of these units for 2^20 periods (docs/continual.md)."""

FFT_ERROR = 1e-9
"""A thousand times what the correlations below may lose, relatively."""


def squared_column_norm(factor: Factor, periods: int, *, times: int = 1, apart: int = 1) -> Fraction:
    """An upper bound on ‖Σ_{i<times} c shifted by i · apart‖², too large by at most a relative 2^-90."""
    if factor == ANY_HORIZON and periods == LONGEST and times == 1:
        return SQUARED_NORM
    cut = [x >> (FIXED - KEPT) for x in factor.c(periods)]
    lost = 2 * times
    return Fraction(sum((x + lost) ** 2 for x in repeated_exactly(cut, times, apart)), 1 << 2 * KEPT)


def squared_sensitivity(
    factor: Factor,
    periods: int,
    *,
    participation: Participation,
    contribution: Contribution,
    neighbours: Neighbours,
    cells: int | None,
) -> Fraction:
    """An upper bound on ‖C (x - x')‖² over neighbouring streams x, x'; `cells` is None where keys are found."""
    times = participation.most(periods)
    once = squared_column_norm(factor, periods, times=times, apart=participation.apart) * contribution.squared_norm
    if neighbours is ADD_OR_REMOVE_ONE:
        return once
    if contribution.signed:
        return 4 * once
    if times > 1 or cells != 1 or factor == ANY_HORIZON:
        return 2 * once
    return once * _replaced_once(factor, periods)


def _replaced_once(factor: Factor, periods: int) -> Fraction:
    """What replacing costs over adding, where two people each come once, into the same cell: at most 2.

    max over s of ‖c - c shifted by s‖² / ‖c‖²; both people as early as they can, the worst of all such pairs
    """
    c = np.array([x / 2.0**FIXED for x in factor.c(periods)])
    together = np.fft.irfft(np.abs(np.fft.rfft(c, 2 * periods)) ** 2)[:periods]
    left = np.cumsum(c**2)[::-1]
    worst = float((left[0] + left - 2 * together).max() / left[0])
    return Fraction(min(2.0, max(1.0, worst * (1 + FFT_ERROR))))
