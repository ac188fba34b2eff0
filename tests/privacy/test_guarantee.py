import json
import math
from fractions import Fraction

import numpy as np

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


def test_a_guarantee_survives_json_exactly():
    assert guarantee_from_json(json.loads(json.dumps(PROMISE.to_json()))) == PROMISE


def test_a_guarantee_says_everything_in_a_line():
    assert str(PROMISE) == "ε = 0.3333, δ = 1e-06 for each row (replace one, by pld; assumes seeded)"


def test_an_infinite_epsilon_is_said_and_survives_json():
    nothing = Guarantee(math.inf, Fraction(0), LOCAL, "one respondent", "law")
    assert str(nothing) == "ε = ∞ for one respondent (local, by law)"
    assert json.loads(json.dumps(nothing.to_json(), allow_nan=False))["epsilon"] == "inf"
    assert guarantee_from_json(nothing.to_json()) == nothing
    assert Guarantee(0.1, Fraction(0), LOCAL, "one respondent", "law").epsilon == Fraction(0.1)


def test_a_release_is_a_frame_and_a_json_text():
    interval = Interval(np.array([0.0, 1.0]), np.array([2.0, 3.0]), 0.95, Covers.TABLE)
    release = Release(np.array([1, 2]), PROMISE, "count", labels=("a", "b"), interval=interval, noise=1.0)
    assert release.frame().rows() == [("a", 1, 0.0, 2.0, 1.0), ("b", 2, 1.0, 3.0, 1.0)]
    told = json.loads(release.to_json())
    assert told["value"] == [1, 2]
    assert told["interval"]["covers"] == "this table"
    assert guarantee_from_json(told["guarantee"]) == PROMISE


def test_what_has_no_json_is_named():
    told = json.loads(Release(object(), PROMISE, "model", details={"weights": np.arange(2), "list": (1,)}).to_json())
    assert told["value"] == "object"
    assert told["details"] == {"weights": [0, 1], "list": [1]}
