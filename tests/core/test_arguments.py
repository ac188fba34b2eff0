"""Arguments are read alike everywhere: one check and one sentence."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bruit.core.arguments import confidence, share, whole
from bruit.errors import InvalidArgument


@pytest.mark.parametrize("value", [3, np.int64(3), np.uint8(3), np.int32(3)])
def test_integers_of_python_and_numpy_are_whole_numbers(value: Any) -> None:
    found = whole(value, "rows")
    assert found == 3
    assert type(found) is int


@pytest.mark.parametrize("value", [True, np.True_, 3.0, np.float64(3), "3", None, Fraction(3), 0, -1])
def test_what_is_no_whole_number_is_refused_by_its_name(value: Any) -> None:
    with pytest.raises(InvalidArgument, match=r"^rows=.* must be a whole number, at least 1$"):
        whole(value, "rows")


def test_bounds_and_the_reason_stand_in_the_refusal() -> None:
    assert whole(0, "cohort", least=0, most=4) == 0
    assert whole(-5, "threshold", least=None) == -5
    with pytest.raises(InvalidArgument, match="cohort=5 must be a whole number from 0 to 4: so many there are"):
        whole(5, "cohort", least=0, most=4, why="so many there are")


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, -0.1, float("nan"), True, "0.5", None])
def test_a_share_lies_strictly_between_0_and_1(value: Any) -> None:
    with pytest.raises(InvalidArgument, match="must lie between 0 and 1"):
        share(value, "level")
    with pytest.raises(InvalidArgument, match=r"confidence=.*for example 0\.95"):
        confidence(value)


@pytest.mark.parametrize("value", [0.95, np.float32(0.5), Fraction(1, 2)])
def test_a_share_comes_back_as_a_float(value: Any) -> None:
    assert share(value, "level") == float(value)
