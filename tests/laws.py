"""Statistical asserts that fail for a wrong law and, but for one run in a thousand million, only then."""

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

ALARM = 1e-9
"""The chance that a correct sampler is called wrong, for one call of `assert_law`."""


def binomial_window(trials: int, probability: float, alarm: float) -> tuple[int, int]:
    """The counts that a binomial law leaves with probability at most `alarm`, half on each side."""
    law = stats.binom(trials, min(max(probability, 0.0), 1.0))
    return int(law.ppf(alarm / 2)), int(law.isf(alarm / 2))


def assert_law(counts: ArrayLike, probabilities: ArrayLike, *, alarm: float = ALARM) -> None:
    """Every cell of `counts` lies in the exact binomial window of its probability; the cells share the alarm."""
    observed, expected = np.asarray(counts), np.asarray(probabilities, float)
    assert observed.shape == expected.shape, "one probability for each cell"
    assert abs(expected.sum() - 1) < 1e-9, "the cells must cover every outcome"
    trials = int(observed.sum())
    for cell, (count, probability) in enumerate(zip(observed, expected, strict=True)):
        low, high = binomial_window(trials, float(probability), alarm / len(observed))
        assert low <= count <= high, f"cell {cell}: {count} of {trials} outside [{low}, {high}] at p={probability:.6g}"


def draws_to_detect(truth: float, wrong: float, *, alarm: float = ALARM, power: float = 0.999) -> int:
    """The least power of two draws that rejects `wrong` when `truth` is claimed, with the given power."""
    trials = 1 << 8
    while True:
        low, high = binomial_window(trials, truth, alarm)
        accepted = stats.binom.cdf(high, trials, wrong) - stats.binom.cdf(low - 1, trials, wrong)
        if accepted <= 1 - power:
            return trials
        trials <<= 1
