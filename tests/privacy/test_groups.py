"""What holds for several people: on finite channels by brute force, and by the curve where that is tighter."""

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise, product
from math import exp

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Ledger
from bruit.channels import IntegerNoise
from bruit.core import Approximate, DiscreteGaussian, DiscreteLaplace, Gaussian, Guarantee, Pure, Sampled, Scheme
from bruit.core.losses import Parallel, ZeroConcentrated, composed
from bruit.privacy import delta, epsilon
from bruit.privacy.groups import LossCurve, group_loss

RELATION = {"neighbours": ADD_OR_REMOVE_ONE}


def hockey_stick(one: np.ndarray, other: np.ndarray, at: float) -> float:
    """The least delta for which two laws are (at, delta)-close in this direction."""
    return float(np.maximum(one - exp(at) * other, 0).sum())


@st.composite
def chains(draw: st.DrawFn) -> np.ndarray:
    """A finite channel: the laws of its output for k + 1 tables, each a neighbour of the next."""
    rows, columns = draw(st.integers(3, 5)), draw(st.integers(2, 4))
    weights = draw(
        st.lists(st.lists(st.integers(0, 20), min_size=columns, max_size=columns), min_size=rows, max_size=rows)
    )
    table = np.array(weights, float) + 1e-3
    return table / table.sum(1, keepdims=True)


@given(chains(), st.floats(0.05, 2))
def test_a_group_is_no_easier_to_tell_than_its_guarantee_says_on_any_finite_channel(
    laws: np.ndarray, at: float
) -> None:
    steps = list(pairwise(laws))
    failed = max(hockey_stick(*pair, at) for one, other in steps for pair in ((one, other), (other, one)))
    promised = Guarantee(Fraction(at), Fraction(failed), REPLACE_ONE, EACH_ROW, "law")
    for k in range(1, len(laws)):
        group = promised.for_people(k)
        for one, other in ((laws[0], laws[k]), (laws[k], laws[0])):
            assert hockey_stick(one, other, float(group.epsilon)) <= float(group.delta) * (1 + 1e-9) + 1e-15
    assert promised.for_people(2).person == "any 2 rows"


@pytest.mark.parametrize("people", [2, 3, 5])
@pytest.mark.parametrize(
    "loss",
    [
        DiscreteLaplace(3, sensitivity=2, **RELATION),
        DiscreteGaussian(9, squared_sensitivity=4, **RELATION),
        DiscreteGaussian(30, squared_sensitivity=1, **RELATION),
    ],
)
def test_integer_noise_hides_a_group_as_its_curve_says(loss: DiscreteLaplace | DiscreteGaussian, people: int) -> None:
    """The whole law, moved by the most that so many people move it."""
    noise, reach, failed = IntegerNoise(loss), 400, 1e-6
    law = noise.law(reach)
    moved = people * (loss.sensitivity if isinstance(loss, DiscreteLaplace) else int(loss.squared_sensitivity**0.5))
    one, other = np.pad(law, (0, moved)), np.pad(law, (moved, 0))
    curve = LossCurve(loss, "pld")
    allowed = curve.epsilon(people, Fraction(failed))
    assert allowed is not None
    assert max(hockey_stick(one, other, float(allowed)), hockey_stick(other, one, float(allowed))) <= failed
    assert hockey_stick(one, other, 0.99 * float(allowed)) > failed * (1 - 1e-6)


def test_samples_of_a_group_are_no_easier_to_tell_than_one_sample_of_all() -> None:
    """The proof in the docstring, on laws: the sum over subsets against the pair that is said to dominate it."""
    x = np.linspace(-30, 40, 200_001)
    density = lambda shift, s: np.exp(-((x - shift) ** 2) / (2 * s * s)) / (s * np.sqrt(2 * np.pi)) * (x[1] - x[0])  # noqa: E731
    for rate, noise, people in product((0.01, 0.3), (0.8, 2.0), (2, 4)):
        chances = [rate ** len(S) * (1 - rate) ** (people - len(S)) for S in _subsets(people)]
        group = sum(p * density(len(S), noise) for p, S in zip(chances, _subsets(people), strict=True))  # type: ignore[no-untyped-call]
        said = group_loss(Sampled(Gaussian(noise, **RELATION), rate=rate, scheme=Scheme.POISSON), people)
        for at in (0.1, 0.5, 2.0):
            bound = float(delta(said, epsilon=at, by="pld"))
            none = density(0, noise)  # type: ignore[no-untyped-call]
            assert max(hockey_stick(group, none, at), hockey_stick(none, group, at)) <= bound + 1e-9


def _subsets(people: int) -> list[tuple[int, ...]]:
    return [tuple(i for i in range(people) if bits >> i & 1) for bits in range(2**people)]


def test_the_curve_of_gaussian_noise_beats_k_times_epsilon_at_the_same_delta() -> None:
    ledger = Ledger("g", epsilon=3, delta=1e-6, by="zcdp", **RELATION, person=EACH_ROW)
    charge = ledger.budget(epsilon=1, delta=1e-6).charge(
        DiscreteGaussian(100, squared_sensitivity=1, **RELATION), what="x"
    )
    one, ten = charge.guarantee, charge.guarantee.for_people(10)
    general = replace(one, curve=None).for_people(10)
    assert ten.delta == one.delta < general.delta / 100
    loss = group_loss(charge.loss, 10)
    assert loss is not None
    assert epsilon(loss, delta=general.delta, by="zcdp") < general.epsilon
    kept = ledger.entries[0].guarantee.for_people(10)
    assert kept == ten
    assert ledger.guarantee.for_people(2).delta == ledger.guarantee.delta


def test_a_book_that_may_fail_tells_a_family_that_each_of_them_may() -> None:
    ledger = Ledger("g", epsilon=1, delta="1e-6", failures="9e-7", by="zcdp", **RELATION, person=EACH_ROW)
    assert ledger.guarantee.for_people(2).delta >= 2 * ledger.terms.failures


def test_pure_losses_multiply_and_unknown_ones_follow_the_general_bound() -> None:
    pure = Guarantee(
        Fraction(1, 2),
        Fraction(0),
        REPLACE_ONE,
        "id",
        "basic",
        curve=LossCurve(Pure("1/2", neighbours=REPLACE_ONE), "basic"),
    )
    assert pure.for_people(3).epsilon == Fraction(3, 2)
    assert pure.for_people(3).person == "any 3 people of 'id'"
    assert pure.for_people(1) is pure
    unknown = Guarantee(Fraction(1), Fraction(1, 10**6), REPLACE_ONE, EACH_ROW, "pld")
    assert unknown.for_people(2).epsilon == 2
    assert float(unknown.for_people(2).delta) == pytest.approx(1e-6 * (1 + exp(1)))
    assert unknown.for_people(60).delta == 1
    assert unknown.for_people(2000).delta == 1


def test_what_no_group_is_proved_for_is_none() -> None:
    approximate = Approximate(1, 1e-6, **RELATION)
    assert group_loss(approximate, 2) is None
    assert group_loss(Parallel(ADD_OR_REMOVE_ONE, (Pure(1, **RELATION),), 1), 2) is None
    fixed = Sampled(Gaussian(1, **RELATION), rate="0.1", scheme=Scheme.FIXED_SIZE)
    assert group_loss(fixed, 2) is None
    assert group_loss(composed([(approximate, 2)]), 3) is None
    assert LossCurve(approximate, "basic").epsilon(2, Fraction(1, 10**6)) is None
    assert 1.99 < LossCurve(approximate, "basic").epsilon(2, Fraction(1, 10**5)) <= 2
    assert LossCurve(ZeroConcentrated("1/2", **RELATION), "zcdp").epsilon(2, Fraction(0)) is None


def test_training_for_two_costs_a_little_more_than_twice_at_the_same_delta() -> None:
    loss = composed([(Sampled(Gaussian(1, **RELATION), rate="0.01", scheme=Scheme.POISSON), 500)])
    alone = epsilon(loss, delta="1e-5", by="pld")
    both = LossCurve(loss, "pld").epsilon(2, Fraction("1e-5"))
    assert both is not None
    assert 2 * alone < both < 3 * alone
