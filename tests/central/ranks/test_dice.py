from contextlib import suppress
from fractions import Fraction
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import pytest
from laws import assert_law

from bruit.apps.studies.joint_quantiles.enumeration import law_of
from bruit.central.ranks.mechanisms import weighted_draws as dice_module
from bruit.central.ranks.mechanisms.weighted_draws import WeightedDraws


def test_an_index_follows_its_weights() -> None:
    weights = np.array([0.1, 0.0, 3.0, 1e-300, 0.7])
    dice = WeightedDraws(np.random.default_rng(1))
    counts = np.bincount([dice.index(weights) for _ in range(16384)], minlength=5)
    assert_law(counts, weights / weights.sum())
    assert counts[1] == 0


class Trial(WeightedDraws):
    """One trial with a chosen ticket and a chosen coin; a second trial is not made."""

    def __init__(self, *shown: Any) -> None:
        self.shown, self.bounds = list(shown), []  # type: ignore[var-annotated]

    def below(self, bound: Any) -> Any:
        self.bounds.append(bound)
        if not self.shown:
            raise EOFError
        return self.shown.pop(0)


def test_an_index_is_exact_and_not_only_near(monkeypatch: pytest.MonkeyPatch) -> None:
    """All tickets and all coins of one trial: each index is kept with its weight times one constant."""
    monkeypatch.setattr(dice_module, "ROOM", 6)
    weights = np.array([3.0, 5 / 16, 1.25])
    kept = [Fraction(0)] * 3
    first = Trial()
    with pytest.raises(EOFError):
        first.index(weights)
    for ticket in range(first.bounds[0]):
        coin = Trial(ticket)
        try:
            kept[coin.index(weights)] += 1
        except EOFError:
            for shown in range(coin.bounds[1]):
                with suppress(EOFError):
                    kept[Trial(ticket, shown).index(weights)] += Fraction(1, coin.bounds[1])
    assert len({k / Fraction(w) for k, w in zip(kept, weights.tolist(), strict=True)}) == 1


def test_weights_far_apart_never_vanish_or_overflow() -> None:
    dice = WeightedDraws(np.random.default_rng(2))
    assert {dice.index(np.array([1e-308, 2e-308])) for _ in range(64)} == {0, 1}
    assert {dice.index(np.array([1.5e308, 1.7e308])) for _ in range(64)} == {0, 1}
    assert {dice.index(np.array([5e-324])) for _ in range(4)} == {0}
    assert {dice.index(np.array([1e-320, 1e300])) for _ in range(64)} == {1}


def test_multisets_are_uniform() -> None:
    law = law_of(lambda dice: tuple(dice.multiset(4, 3)))
    assert sorted(law) == list(combinations_with_replacement(range(4), 3))  # type: ignore[type-var]
    np.testing.assert_allclose(list(law.values()), 1 / len(law))


def test_large_bounds_are_uniform() -> None:
    dice, bound = WeightedDraws(np.random.default_rng(3)), 3 * 2**200
    assert_law(np.bincount([dice.below(bound) >> 200 for _ in range(4096)], minlength=3), [1 / 3] * 3)
