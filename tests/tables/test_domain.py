from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import InvalidArgument, OutOfDomain
from bruit.tables import OTHER, Among, Column, Within, among, domain_from_json, read, read_integers, within
from bruit.tables.schema import Category, Number

floats = st.floats(allow_nan=True, allow_infinity=True)


@given(st.lists(floats, min_size=1), st.none() | st.integers(-20, 30))
def test_engine_and_array_encode_alike(values: list[float], missing: int) -> None:
    domain = within(-20, 30, grid="0.5", missing=missing)
    table = read(pl.DataFrame({"x": values}, schema={"x": pl.Float64}), person="each row")
    inside = read_integers(table, [Column(table, "x", domain)])["integer 0"].to_list()
    codes, kept = domain.encode_values(np.array(values))
    assert inside == [int(code) if keep else None for code, keep in zip(codes, kept, strict=True)]
    assert all(code is None or domain.lowest <= code <= domain.highest for code in inside)


@given(st.integers(-1000, 1000))
def test_grid_values_are_their_own_code(steps: int) -> None:
    domain = within(-100, 100, grid="0.1")
    (code,), _ = domain.encode_values([float(Fraction(steps, 10))])
    assert domain.decode(code) == steps / 10


def test_values_outside_are_moved_to_the_nearer_bound() -> None:
    codes, kept = within(0, 10, grid=1).encode_values([-np.inf, -3.0, 4.4, 4.5, 99.0, np.inf, np.nan])
    assert codes[:-1].tolist() == [0, 0, 4, 5, 10, 10]
    assert kept.tolist() == [True] * 6 + [False]


def test_undeclared_categories_are_other_or_dropped() -> None:
    codes, kept = among(["a", "b"]).encode_values(["a", "c", "b", "OTHER"])
    assert [among(["a", "b"]).labels[code] for code in codes] == ["a", OTHER, "b", OTHER]
    assert kept.all()
    _, kept = among(["a", "b"], drop_others=True).encode_values(["a", "c", "b"])
    assert kept.tolist() == [True, False, True]


@pytest.mark.parametrize("domain", [within("1/3", 7, grid="1/3"), within(0, 5, grid=1, missing=2), among(["x", "é"])])
def test_json_describes_a_domain_completely(domain: Any) -> None:
    assert domain_from_json(domain.to_json()) == domain


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: within(5, 5, grid=1),
        lambda: within(5, 0, grid=1),
        lambda: within(0, 10, grid=3),
        lambda: within(0, 10, grid=0),
        lambda: within(0, 10, grid=-1),
        lambda: within(0, 1, grid="1e-12"),
        lambda: within(0, 10, grid=1, missing=11),
        lambda: among([]),
        lambda: among("abc"),
        lambda: among(["a", "a"]),
        lambda: among(["a", OTHER]),
        lambda: among(["a "]),
    ],
)
def test_what_describes_no_domain_is_refused(wrong: Callable[..., Any]) -> None:
    with pytest.raises(OutOfDomain):
        wrong()


@pytest.mark.parametrize("bound", [float("nan"), float("inf"), "ten", True, None])
def test_a_bound_that_is_no_number_is_refused(bound: Any) -> None:
    with pytest.raises(InvalidArgument):
        within(0, bound, grid=1)


@given(
    st.integers(-(2**32), 2**32),
    st.fractions(min_value=Fraction(1, 10**6), max_value=10**6, max_denominator=10**6),
)
def test_a_value_at_the_bounds_never_rounds_to_a_step_outside(end: int, grid: Fraction) -> None:
    low, high = sorted((end * grid, (end // 2 - 1) * grid))
    domain = within(low, high, grid=grid)
    codes, _ = domain.encode_values([-np.inf, float(low), float(high), np.inf])
    assert codes.tolist() == [domain.lowest, domain.lowest, domain.highest, domain.highest]


@pytest.mark.parametrize("bounds", [(0, "1e-320", "1e-322"), ("-1e305", 0, "1e304")])
def test_numbers_that_no_engine_holds_are_refused(bounds: tuple[Any, ...]) -> None:
    with pytest.raises(OutOfDomain, match="1e300"):
        within(bounds[0], bounds[1], grid=bounds[2])


BUILT_BY_CLASS = {
    "off the grid": lambda: Within(Fraction(0), Fraction(11), Fraction(4), None),
    "beyond 2^32 steps": lambda: Within(Fraction(0), Fraction(2**33), Fraction(1), None),
    "no exact numbers": lambda: Within(0, 10, 1, None),  # type: ignore[arg-type]
    "upside down": lambda: Number(Fraction(5), Fraction(1), Fraction(1)),
    "a missing value outside": lambda: Number(Fraction(0), Fraction(1), Fraction(1), Fraction(2)),
    "a category twice": lambda: Category(("a", "a"), None),
    "no texts": lambda: Among((1, 2), drop_others=True),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("wrong", BUILT_BY_CLASS.values(), ids=BUILT_BY_CLASS)
def test_rule_12_a_domain_built_by_its_class_is_checked_too(wrong: Callable[[], Any]) -> None:
    """A value of 11 on a grid of 4 is three steps, where its bounds were taken for two."""
    with pytest.raises(OutOfDomain, match=r"(number|category|within|among)\(\.\.\.\)"):
        wrong()
