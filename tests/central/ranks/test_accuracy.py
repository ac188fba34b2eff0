"""The accuracy theorems: the figures of the errata, exact binomial laws, and what the mechanisms really do."""

from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import pytest
from scipy import stats

from bruit.central.ranks.accuracy import (
    above_threshold_accuracy,
    histogram_expected_error,
    histogram_failure,
    inverse_sensitivity_failure,
)
from bruit.errors import InvalidArgument

SETTING: dict[str, Any] = {"epsilon": 1.0, "steps": 100, "beta": 0.01}


def test_the_expectation_has_the_figures_of_the_errata() -> None:
    """ε = 1, k = 100, β = .01, the fifth decile → .166 / .031 / .019 at n = 1e4 / 1e5 / 1e6."""
    found = [histogram_expected_error(0.5, rows=10**k, **SETTING) for k in (4, 5, 6)]
    assert [round(bound.value, 3) for bound in found] == [0.166, 0.031, 0.019]
    assert not any(bound.vacuous for bound in found)
    small = histogram_expected_error(0.5, rows=1000, **SETTING)
    assert small.vacuous
    assert small.value == 0.5
    assert "beyond the farthest" in str(small)


def test_alpha_is_the_one_of_the_share_of_each_quantile() -> None:
    assert above_threshold_accuracy(100, epsilon=1 / 9, beta=0.01) == pytest.approx(72 * (log(100) + log(200)))
    with pytest.raises(InvalidArgument):
        above_threshold_accuracy(0, epsilon=1, beta=0.01)
    with pytest.raises(InvalidArgument):
        above_threshold_accuracy(5, epsilon=1, beta=0)


def exact_failure(
    cdf: Callable[..., Any], quantile: float, share: float, gamma: float, rows: int, alpha: float
) -> tuple[float, float]:
    """mu and eta from binomial laws instead of Chernoff's bounds."""
    left, right = (
        stats.binom.cdf(np.ceil(alpha) - 1, rows, abs(cdf(quantile + s * gamma) - cdf(quantile + s * gamma / 2)))
        for s in (-1, 1)
    )
    early = stats.binom.sf(np.ceil(share * rows) - 1, rows, cdf(quantile - gamma / 2))
    late = stats.binom.cdf(np.floor(share * rows), rows, cdf(quantile + gamma / 2))
    return left + right, early + late


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.8, 0.9])
@pytest.mark.parametrize("rows", [20_000, 200_000])
@pytest.mark.parametrize("law", ["uniform", "normal"])
def test_the_terms_are_above_the_exact_ones(law: Any, rows: int, share: Any) -> None:
    law_of = stats.uniform if law == "uniform" else stats.norm
    quantile = float(law_of.ppf(share))
    alpha = above_threshold_accuracy(100, epsilon=10 / 9, beta=0.01)
    checked = 0
    for gamma in np.geomspace(0.002, 0.09, 12):
        setting: dict[str, Any] = {"gamma": float(gamma), "rows": rows, "epsilon": 10.0, "steps": 100, "beta": 0.01}
        bound = histogram_failure(law, share, **setting)
        if not bound.vacuous:
            mu, eta = exact_failure(law_of.cdf, quantile, share, gamma, rows, alpha)
            assert bound.value >= 0.01 + mu + eta
            checked += 1
    assert checked or (law == "normal" and (share == 0.5 or rows == 20_000))


def test_vacuous_bounds_say_why() -> None:
    setting: dict[str, Any] = {"rows": 1000, **SETTING}
    assert "n gamma" in str(histogram_failure("uniform", 0.5, gamma=0.05, **setting))
    assert "from the median" in histogram_failure("normal", 0.5, gamma=0.05, **setting).because
    assert "log 2" in histogram_failure("normal", 0.9, gamma=0.6, **setting).because
    assert "records" in histogram_failure("normal", 0.9, gamma=0.05, **setting).because
    assert histogram_failure("uniform", 0.5, gamma=0.5, **setting).value == 0
    with pytest.raises(InvalidArgument, match="choose uniform"):
        histogram_failure("cauchy", 0.5, gamma=0.1, **setting)


def test_the_histogram_method_keeps_its_theorem() -> None:
    """n = 1e5 uniform, ε = 10: misses of the median are rarer than the bound says."""
    from fractions import Fraction

    from bruit.central.ranks.mechanisms.histogram import draw_edges, threshold_plan
    from bruit.central.ranks.records import Person

    rows, grid, rng = 100_000, 10_001, np.random.default_rng(9)
    deciles = [Fraction(i, 10) for i in range(1, 10)]
    person = Person(1, exchanged=True, fixed_size=True)
    plan = threshold_plan(deciles, grid, Fraction(10), person, steps=100)
    bound = histogram_failure("uniform", 0.5, gamma=0.02, rows=rows, epsilon=10.0, steps=100, beta=0.01)
    assert bound.value < 0.25
    misses = 0
    for _ in range(40):
        cells = np.sort(rng.integers(0, grid, rows))
        found = draw_edges(cells, plan, rng)[4] / (grid - 1)
        misses += not 0.5 - 0.02 - 0.01 <= found <= 0.5 + 0.02
    assert misses <= stats.binom.isf(1e-9, 40, bound.value)


def test_inverse_sensitivity_has_its_hypotheses_checked() -> None:
    good: dict[str, Any] = {
        "distance": 0.01,
        "gamma": 0.1,
        "smoothing": 0.001,
        "width": 1.0,
        "density": 1.0,
        "epsilon": 9.0,
    }
    assert inverse_sensitivity_failure(**good, rows=10**6).value < 1e-9
    assert "gamma / 4" in inverse_sensitivity_failure(**{**good, "distance": 0.05}, rows=10**6).because
    assert "density" in inverse_sensitivity_failure(**{**good, "density": 0.0}, rows=10**6).because
    assert "add up" in inverse_sensitivity_failure(**good, rows=1000).because
    with pytest.raises(InvalidArgument):
        inverse_sensitivity_failure(**{**good, "smoothing": 0.0}, rows=1000)
