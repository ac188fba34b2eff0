"""Any epsilon and any delta, however huge or tiny and however written: an answer, or a refusal before any charge."""

from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import special

import bruit
from bruit import central
from bruit.central.questions import Question, count, mean
from bruit.central.questions.noises import LEAST_DELTA
from bruit.channels import IntegerNoise
from bruit.core.numbers import exactly
from bruit.errors import BudgetExceeded, InvalidArgument, NotPrivate
from bruit.privacy import DiscreteGaussian, DiscreteLaplace
from bruit.tables.plan.operators import open_table
from bruit.tables.schema import Schema, category, found, number

POWERS = st.integers(-3999, 3999).map(lambda power: f"1e{power}")
TINY_OR_HUGE = st.one_of(
    POWERS,
    st.sampled_from([5e-324, 1e-308, 1e308, 1.7e308, "1e309", "1e999", 10**400, Fraction(1, 10**400), "1/3", 9_999]),
    st.floats(5e-324, 1.7e308),
)
DELTAS = st.one_of(
    st.just(0),
    st.integers(1, 3999).map(lambda power: f"1e-{power}"),
    st.integers(1, 3999).map(lambda power: 1 - Fraction(1, 10**power)),
    st.floats(5e-324, 1, exclude_max=True),
)

FRAME = pl.DataFrame({"x": [1.0, 2.0, 3.5, 9.0], "city": ["Paris", "Lyon", "Lyon", "Rome"]})
TABLE = bruit.tables.read(FRAME, person=bruit.EACH_ROW)
X = TABLE["x"].within(0, 10, grid="0.5")
CITY = TABLE["city"].among(["Paris", "Lyon", "Rome"])
ASKED = open_table(FRAME, Schema(bruit.EACH_ROW, {"x": number(0, 10, grid="0.5"), "city": category(["Paris", "Lyon"])}))
FOUND = open_table(FRAME, Schema(bruit.EACH_ROW, {"city": found(longest=9)}))


def scores(_: Any) -> Any:
    return np.array([1, 2])


def above(budget: Any) -> Any:
    return central.AboveThreshold(TABLE, 3, sensitivity=1, budget=budget).ask(lambda _: 4)


DOORS = {
    "count": lambda b: central.count(TABLE, budget=b),
    "sum": lambda b: central.sum(X, budget=b),
    "mean": lambda b: central.mean(X, budget=b),
    "variance": lambda b: central.variance(X, budget=b),
    "histogram": lambda b: central.histogram(CITY, budget=b),
    "sums by group": lambda b: central.group_by(CITY, values=X, budget=b),
    "found groups": lambda b: central.group_by(TABLE["city"], budget=b),
    "question": lambda b: Question(ASKED, {"n": count(), "x": mean(ASKED["x"])}, {"city": ASKED["city"]}).release(
        budget=b
    ),
    "question of found groups": lambda b: Question(FOUND, {"n": count()}, {"city": FOUND["city"]}).release(budget=b),
    "bounds": lambda b: central.bounds(TABLE["x"], largest=100, grid=1, budget=b),
    "exponential": lambda b: central.exponential(TABLE, ["a", "b"], scores, sensitivity=1, budget=b),
    "noisy_max": lambda b: central.noisy_max(TABLE, ["a", "b"], scores, sensitivity=1, budget=b),
    "most_common": lambda b: central.most_common(CITY, budget=b),
    "inverse_sensitivity": lambda b: central.inverse_sensitivity(
        CITY, lambda counts: int(counts.argmax()), [0, 1, 2], reach=2, budget=b
    ),
    "above": above,
    "quantiles": lambda b: central.quantiles(X, [0.25, 0.5], budget=b),
    "rank_sums": lambda b: central.rank_sums(X, CITY, budget=b),
} | {
    f"quantiles, {method}": lambda b, method=method: central.quantiles(X, [0.25, 0.5], method=method, budget=b)
    for method in ("joint", "exponential", "recursive", "histogram", "inverse-sensitivity", "smooth")
}


SLOW = ("found groups", "question of found groups")
"""Each price has a threshold of its own to be found: the gate tries a few, `make stress` as many as elsewhere."""


@pytest.mark.parametrize("door", [pytest.param(door, marks=[pytest.mark.stress] * (door in SLOW)) for door in DOORS])
@settings(max_examples=25)
@given(epsilon=TINY_OR_HUGE, delta=DELTAS, exchanged=st.booleans())
@example(epsilon="1e999", delta="1e-5", exchanged=False)
@example(epsilon="1e309", delta=0, exchanged=True)
@example(epsilon="1e-400", delta="1e-400", exchanged=False)
@example(epsilon=1e-18, delta=0.5, exchanged=True)
@example(epsilon=9_999, delta="1e-3999", exchanged=False)
def test_any_price_is_answered_or_refused_before_it_is_charged(
    door: str, epsilon: Any, delta: Any, exchanged: bool
) -> None:
    require_answer_or_refusal(door, epsilon, delta, exchanged=exchanged)


@pytest.mark.parametrize("door", SLOW)
@pytest.mark.parametrize("exchanged", [False, True])
@pytest.mark.parametrize(
    ("epsilon", "delta"),
    [("1e999", "1e-5"), ("1e-400", "1e-400"), (1e-18, 0.5), (9_999, "1e-3999"), (9_999, 0.5), (1, 0), ("1/3", "1e-9")],
)
def test_any_price_of_found_groups_is_answered_or_refused(epsilon: Any, delta: Any, exchanged: bool, door: str) -> None:
    require_answer_or_refusal(door, epsilon, delta, exchanged=exchanged)


def require_answer_or_refusal(door: str, epsilon: Any, delta: Any, *, exchanged: bool) -> None:
    book = bruit.Ledger(
        "rows",
        epsilon=10_000,
        delta=1 - Fraction(1, 10**30),
        neighbours=bruit.REPLACE_ONE if exchanged else bruit.ADD_OR_REMOVE_ONE,
        person=bruit.EACH_ROW,
    )
    price, refused = exactly(epsilon, "epsilon"), ""
    try:
        DOORS[door](book.budget(epsilon=epsilon, delta=delta))
    except (InvalidArgument, BudgetExceeded, NotPrivate) as error:
        refused = str(error)
    assert len(book.entries) == (not refused)
    assert len(refused) < 400
    needless = Fraction(1, 10**5) <= price <= 10_000 and exactly(delta, "delta") < 0.99
    assert not (refused and needless) or (door in SLOW and exactly(delta, "delta") < LEAST_DELTA)


@settings(max_examples=30)
@given(
    TINY_OR_HUGE,
    st.sampled_from(["count", "sum", "mean", "variance", "histogram", "group_by", "quantiles"]),
    st.booleans(),
)
def test_any_epsilon_has_an_expected_error_or_is_refused(epsilon: Any, statistic: str, public_size: bool) -> None:
    known = public_size and statistic == "mean"
    try:
        found = central.expected_error(
            statistic,
            epsilon=epsilon,
            neighbours=bruit.REPLACE_ONE if known else bruit.ADD_OR_REMOVE_ONE,
            domain=X.numbers,
            **{"size" if known else "expected_size": 100},
            probabilities=[0.25, 0.5],
        )
    except InvalidArgument:
        assert not 1e-10 < exactly(epsilon, "epsilon") < 10**200
    else:
        assert np.isfinite(found)
        assert found >= 0


@given(st.floats(1e6, 1e25), st.floats(0.01, 0.999))
def test_the_half_width_of_wide_gaussian_noise_covers_and_hardly_more(variance: float, confidence: float) -> None:
    loss = DiscreteGaussian(variance, squared_sensitivity=1, neighbours=bruit.ADD_OR_REMOVE_ONE)
    width, deviation = IntegerNoise(loss).half_width(confidence), variance**0.5
    assert special.erf((width + 0.5) / deviation / 2**0.5) >= confidence - 1e-12
    assert special.erf((width - 1) / deviation / 2**0.5) <= confidence + 1e-12


@pytest.mark.parametrize(
    "loss",
    [
        DiscreteLaplace("1e999", sensitivity=1, neighbours=bruit.ADD_OR_REMOVE_ONE),
        DiscreteGaussian("1e999", squared_sensitivity=1, neighbours=bruit.ADD_OR_REMOVE_ONE),
    ],
)
def test_noise_that_cannot_be_drawn_is_refused_where_its_width_is_asked(loss: Any) -> None:
    with pytest.raises(InvalidArgument, match="beyond 64 bits"):
        IntegerNoise(loss)


@pytest.mark.parametrize("kind", [DiscreteLaplace, DiscreteGaussian])
def test_noise_below_every_float_has_no_width(kind: type[Any]) -> None:
    changed = {"sensitivity": 1} if kind is DiscreteLaplace else {"squared_sensitivity": 1}
    assert IntegerNoise(kind("1e-400", neighbours=bruit.ADD_OR_REMOVE_ONE, **changed)).half_width(0.999) == 0
