import json
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.privacy import (
    EACH_ROW,
    LOCAL,
    REPLACE_ONE,
    Assumption,
    Covers,
    Guarantee,
    Interval,
    Release,
    guarantee_from_json,
)

PROMISE = Guarantee(Fraction(1, 3), Fraction(1, 10**6), REPLACE_ONE, EACH_ROW, "pld", (Assumption.SEEDED,))


def test_a_guarantee_survives_json_exactly() -> None:
    assert guarantee_from_json(json.loads(json.dumps(PROMISE.to_json()))) == PROMISE


def test_a_guarantee_says_everything_in_a_line() -> None:
    assert str(PROMISE) == "ε = 0.3334, δ = 1e-06 for each row (replace one, by pld; assumes seeded)"


@given(st.fractions(0, 1000), st.fractions(0, Fraction(1, 2)))
def test_what_is_printed_never_promises_more_than_what_holds(epsilon: Fraction, delta: Fraction) -> None:
    told = str(Guarantee(epsilon, delta, REPLACE_ONE, EACH_ROW, "pld")).split(" for ")[0]
    stated = [Fraction(part.split(" = ")[1]) for part in told.split(", ")]
    assert epsilon <= stated[0] <= epsilon * (1 + Fraction(1, 999))
    if delta:
        assert delta <= stated[1] <= delta * (1 + Fraction(1, 99))


@pytest.mark.parametrize(
    ("epsilon", "told"),
    [("1", "1"), ("1.00049", "1.001"), ("0.99999", "1"), ("12345", "1.235e+04"), ("1e-400", "1.000e-400")],
)
def test_an_epsilon_is_rounded_up(epsilon: str, told: str) -> None:
    assert str(Guarantee(Fraction(epsilon), Fraction(0), REPLACE_ONE, EACH_ROW, "pld")).startswith(f"ε = {told} for")


def test_an_infinite_epsilon_is_said_and_survives_json() -> None:
    nothing = Guarantee(math.inf, Fraction(0), LOCAL, "one respondent", "law")
    assert str(nothing) == "ε = ∞ for one respondent (local, by law)"
    assert json.loads(json.dumps(nothing.to_json(), allow_nan=False))["epsilon"] == "inf"
    assert guarantee_from_json(nothing.to_json()) == nothing
    assert Guarantee(0.1, Fraction(0), LOCAL, "one respondent", "law").epsilon == Fraction(0.1)


def test_a_release_is_a_frame_and_a_json_text() -> None:
    interval = Interval(np.array([0.0, 1.0]), np.array([2.0, 3.0]), 0.95, Covers.TABLE)
    release = Release(np.array([1, 2]), PROMISE, "count", labels=("a", "b"), interval=interval, noise=1.0)
    assert release.frame().rows() == [("a", 1, 0.0, 2.0, 1.0), ("b", 2, 1.0, 3.0, 1.0)]
    told = json.loads(release.to_json())
    assert told["value"] == [1, 2]
    assert told["interval"]["covers"] == "this table"
    assert guarantee_from_json(told["guarantee"]) == PROMISE


def test_what_has_no_json_is_named() -> None:
    told = json.loads(Release(object(), PROMISE, "model", details={"weights": np.arange(2), "list": (1,)}).to_json())
    assert told["value"] == "object"
    assert told["details"] == {"weights": [0, 1], "list": [1]}
