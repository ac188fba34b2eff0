"""The plan costs what it says, under both relations, and never more than its price."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.core import Neighbours
from bruit.errors import InvalidArgument
from bruit.privacy import ADD_OR_REMOVE_ONE, REPLACE_ONE, BoundedRange, DiscreteGaussian, zcdp
from bruit.synthetic.plan import Mode, PublicNumbers, fit_plan, make_plan

RELATIONS = st.sampled_from([ADD_OR_REMOVE_ONE, REPLACE_ONE])


@given(
    st.lists(st.integers(1, 40), min_size=1, max_size=8),
    st.integers(1, 5),
    RELATIONS,
    st.sampled_from(Mode),
    st.fractions(Fraction(1, 10**6), Fraction(1, 10)),
    st.booleans(),
)
def test_a_plan_costs_its_rho_and_never_more(
    sizes: list[int], rows: int, neighbours: Neighbours, mode: Mode, rho: Fraction, stated: bool
) -> None:
    target = 0 if stated and mode is Mode.ADAPTIVE else None
    plan = make_plan(PublicNumbers(tuple(sizes), rows, neighbours, mode, target=target), rho)
    assert Fraction(95, 100) * rho <= zcdp(plan.loss) <= rho


@given(st.integers(1, 5), RELATIONS)
def test_noise_grows_with_the_rows_of_a_person_and_with_an_exchange(rows: int, neighbours: Neighbours) -> None:
    def pairs(count: int) -> Fraction:
        return make_plan(PublicNumbers((5, 6, 7), count, neighbours), Fraction(1, 50)).pairs

    assert pairs(rows) == pytest.approx(rows**2 * pairs(1), rel=1e-3)
    once = make_plan(PublicNumbers((5, 6, 7), 1, ADD_OR_REMOVE_ONE), Fraction(1, 50)).pairs
    assert pairs(1) == pytest.approx(once * (1 if neighbours is ADD_OR_REMOVE_ONE else 2), rel=1e-3)


def test_a_tiny_price_still_chooses() -> None:
    plan = make_plan(PublicNumbers((4,) * 12, 1, ADD_OR_REMOVE_ONE), Fraction(1, 10**10))
    assert plan.choice is not None
    assert plan.choice > 0


def test_many_rows_measure_all_pairs_and_choose_none() -> None:
    few = make_plan(PublicNumbers((4,) * 30, 1, ADD_OR_REMOVE_ONE), Fraction(1, 30))
    many = make_plan(PublicNumbers((4,) * 30, 1, ADD_OR_REMOVE_ONE, expected_rows=10**7), Fraction(1, 30))
    assert few.picks == 120
    assert (many.picks, many.choice) == (435, None)


def test_the_loss_names_every_part() -> None:
    plan = make_plan(PublicNumbers((3,) * 12, 2, REPLACE_ONE), Fraction(1, 10))
    parts = dict(plan.loss.parts())
    counts = DiscreteGaussian(plan.singles, squared_sensitivity=8, entries=4, neighbours=REPLACE_ONE)
    assert parts[counts] == 12
    assert parts[BoundedRange(plan.choice, neighbours=REPLACE_ONE)] == plan.picks == 48


def test_pairs_of_a_column_to_predict_are_measured_without_a_choice() -> None:
    plan = make_plan(PublicNumbers((3,) * 12, 1, ADD_OR_REMOVE_ONE, target=4), Fraction(1, 10))
    assert plan.question.stated == ((0, 4), (1, 4), (2, 4), (3, 4), *((4, i) for i in range(5, 12)))
    parts = dict(plan.loss.parts())
    assert parts[BoundedRange(plan.choice, neighbours=ADD_OR_REMOVE_ONE)] == plan.picks == 48 - 11
    counts = DiscreteGaussian(plan.stated, squared_sensitivity=1, entries=1, neighbours=ADD_OR_REMOVE_ONE)
    assert parts[counts] == 11
    assert plan.stated == pytest.approx(plan.pairs / 2, rel=0.01)


@pytest.mark.parametrize(
    ("rho", "rows"), [(Fraction(1, 10**34), 1), (Fraction(1, 10**12), 10**8), (Fraction(1, 10**20), 10**6)]
)
def test_rule_13_noise_beyond_64_bits_is_refused_with_the_plan(rho: Fraction, rows: int) -> None:
    """Once the sampler refused it, after the charge."""
    with pytest.raises(InvalidArgument, match="64 bits"):
        fit_plan(PublicNumbers((4, 3, 2), rows, ADD_OR_REMOVE_ONE), lambda _: True, rho=rho)
