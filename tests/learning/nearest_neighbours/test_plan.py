"""Plans cost what they say, and answers follow their law."""

from fractions import Fraction
from itertools import permutations
from math import exp

import numpy as np
import pytest
from laws import assert_law

from bruit.channels import IntegerNoise, PermuteAndFlip
from bruit.errors import InvalidArgument, NotPrivate
from bruit.learning.nearest_neighbours.plan import VotePlan, plan_answers
from bruit.ledger import Budget, Ledger
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    EACH_ROW,
    REPLACE_ONE,
    DiscreteGaussian,
    DiscreteLaplace,
    Neighbours,
    Pure,
    basic,
    epsilon,
    zcdp,
)

BOTH = (ADD_OR_REMOVE_ONE, REPLACE_ONE)


def price(amount: float = 2, delta: float = 0, neighbours: Neighbours = ADD_OR_REMOVE_ONE, **how: str) -> Budget:
    book = Ledger("plan", epsilon=10, delta=max(delta, 1e-3), neighbours=neighbours, person=EACH_ROW)
    return book.budget(epsilon=amount, delta=delta, **how)


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("method", ["permute-and-flip", "laplace"])
def test_questions_share_a_pure_price(method: str, rows: int, neighbours: Neighbours) -> None:
    plan = plan_answers(price(neighbours=neighbours), method, queries=8, per_query=None, rows=rows)
    assert (plan.queries, basic(plan.loss)) == (8, (Fraction(2), Fraction(0)))
    assert plan.loss.neighbours is neighbours
    assert plan.channel.epsilon == Fraction(1, 4)
    if isinstance(plan.channel, PermuteAndFlip):
        assert plan.channel == PermuteAndFlip(Fraction(1, 4) / (2 * rows), sensitivity=rows)
    else:
        assert plan.channel.loss.scale == 2 * rows / Fraction(1, 4)


def test_a_price_for_each_question_buys_as_many_as_the_budget_holds() -> None:
    plan = plan_answers(price(), "laplace", queries=None, per_query="0.3", rows=1)
    assert (plan.queries, plan.channel.loss.scale, basic(plan.loss)[0]) == (6, Fraction(20, 3), Fraction(9, 5))


def test_the_document_is_charged_twice_what_it_counts() -> None:
    plan = plan_answers(price(), "document", queries=None, per_query="0.5", rows=1)
    assert (plan.queries, plan.channel.loss.scale, basic(plan.loss)[0]) == (2, Fraction(2), Fraction(2))
    assert plan.loss == DiscreteLaplace(2, sensitivity=2, neighbours=ADD_OR_REMOVE_ONE) * 2


@pytest.mark.parametrize("neighbours", BOTH)
def test_gaussian_noise_pays_for_two_numbers_a_question(neighbours: Neighbours) -> None:
    plan = plan_answers(price(1, 1e-5, neighbours), "gaussian", queries=100, per_query=None, rows=1)
    assert plan.loss == DiscreteGaussian(plan.channel.loss.variance, squared_sensitivity=1, neighbours=neighbours) * 200
    assert 0.99 < epsilon(plan.loss, delta=1e-5, by="pld") <= 1


def test_gaussian_noise_for_several_rows_pays_for_their_squares() -> None:
    one, three = (
        plan_answers(price(1, 1e-5, by="zcdp"), "gaussian", queries=10, per_query=None, rows=r) for r in (1, 3)
    )
    assert three.channel.loss.variance == 9 * one.channel.loss.variance
    assert zcdp(one.loss) == zcdp(three.loss) == 10 / one.channel.loss.variance
    assert 0.999 < epsilon(three.loss, delta=1e-5, by="zcdp") <= 1


@pytest.mark.parametrize(
    ("delta", "asked", "expected"),
    [
        (0, {"queries": 3}, "permute-and-flip"),
        (1e-6, {"queries": 3}, "gaussian"),
        (1e-6, {"per_query": 1}, "permute-and-flip"),
    ],
)
def test_the_method_follows_from_the_price(delta: float, asked: dict[str, int], expected: str) -> None:
    how = {"queries": None, "per_query": None, **asked}
    assert plan_answers(price(2, delta), "auto", rows=1, **how).method == expected


@pytest.mark.parametrize(
    ("method", "asked", "said"),
    [
        ("laplace", {}, "either queries="),
        ("laplace", {"queries": 2, "per_query": 1}, "either queries="),
        ("laplace", {"queries": 0}, "at least 1"),
        ("laplace", {"per_query": 3}, "pays for none"),
        ("laplace", {"per_query": 0}, "pays for none"),
        ("document", {"per_query": "1.5"}, "pays for none"),
        ("document", {"queries": 2}, "per_query="),
        ("gaussian", {"queries": 2}, "delta"),
        ("votes", {"queries": 2}, "one of auto"),
    ],
)
def test_what_cannot_be_planned_is_refused(method: str, asked: dict[str, int], said: str) -> None:
    with pytest.raises(InvalidArgument, match=said):
        plan_answers(price(), method, rows=1, **{"queries": None, "per_query": None, **asked})


def test_a_single_loss_is_no_price_for_questions() -> None:
    book = Ledger("plan", epsilon=10, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    with pytest.raises(NotPrivate, match="as an epsilon"):
        plan_answers(
            book.budget(DiscreteLaplace(1, sensitivity=1, neighbours=ADD_OR_REMOVE_ONE)),
            "laplace",
            queries=1,
            per_query=None,
            rows=1,
        )


def laplace_chance(votes: tuple[int, ...], scale: float) -> list[float]:
    """The chance that each class has the largest noisy count, the first of equal ones."""
    reach = np.arange(-200, 201)
    mass = np.exp(-np.abs(reach) / scale)
    mass /= mass.sum()
    below = np.concatenate([[0.0], np.cumsum(mass)])
    found = []
    for place, count in enumerate(votes):
        chance = mass.copy()
        for other, theirs in enumerate(votes):
            if other != place:
                shift = np.clip(reach + count - theirs + 200 + (other > place), 0, 401)
                chance = chance * below[shift]
        found.append(float(chance.sum()))
    return found


def flip_chance(votes: tuple[int, ...], exponent: float) -> list[float]:
    """Permute-and-flip, summed over the orders."""
    heads = [exp(-exponent * (max(votes) - count)) for count in votes]
    found = [0.0] * len(votes)
    orders = list(permutations(range(len(votes))))
    for order in orders:
        left = 1.0
        for place in order:
            found[place] += left * heads[place] / len(orders)
            left *= 1 - heads[place]
    return found


@pytest.mark.parametrize("votes", [(3, 1, 0), (0, 0, 2)])
@pytest.mark.parametrize("method", ["laplace", "permute-and-flip"])
def test_answers_follow_their_law(method: str, votes: tuple[int, ...]) -> None:
    noise = IntegerNoise(DiscreteLaplace(2, sensitivity=2, neighbours=REPLACE_ONE))
    channel = noise if method == "laplace" else PermuteAndFlip(Fraction(1, 2))
    plan = VotePlan(method, 1, Pure(1, neighbours=REPLACE_ONE), channel)
    draws = 200_000 if method == "laplace" else 20_000
    told = plan.answers(np.tile(votes, (draws, 1)), rng=np.random.default_rng(5))
    expected = laplace_chance(votes, 2.0) if method == "laplace" else flip_chance(votes, 0.5)
    assert_law(np.bincount(told, minlength=3), expected)


def test_gaussian_noise_follows_its_law() -> None:
    loss = DiscreteGaussian(4, squared_sensitivity=1, neighbours=REPLACE_ONE)
    plan = VotePlan("gaussian", 1, loss, IntegerNoise(loss))
    drawn = np.clip(plan.channel.draw(200_000, rng=np.random.default_rng(6)), -6, 6)
    reach = np.arange(-40, 41)
    mass = np.exp(-(reach**2) / 8)
    mass /= mass.sum()
    expected = np.bincount(np.clip(reach, -6, 6) + 6, weights=mass)
    assert_law(np.bincount(drawn + 6), expected)
