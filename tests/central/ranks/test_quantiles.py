"""The public door: any table gives an answer, nothing depends on a record's value but the answer."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import polars as pl
import pytest

import bruit
from bruit import central
from bruit.central.ranks.probabilities import as_probabilities
from bruit.central.ranks.quantile_methods import METHODS
from bruit.central.ranks.records import in_order
from bruit.central.ranks.spacings import Spacing
from bruit.core import Neighbours
from bruit.errors import BudgetExceeded, BudgetMissing, InvalidArgument, NotPrivate

AWKWARD = {
    "nothing": [],
    "one": [3.0],
    "two": [0.0, 10.0],
    "ten": [float(i) for i in range(10)],
    "all equal": [7.0] * 500,
    "five values": [1.0, 2.0, 3.0, 4.0, 5.0] * 60,
    "ends": [0.0] * 50 + [10.0] * 50,
    "not numbers": [float("nan"), None, float("inf"), -float("inf"), 1e308, -4.0],
}


def column(values: Any, **domain: int | None) -> Any:
    frame = pl.DataFrame({"x": pl.Series(values, dtype=pl.Float64)})
    return bruit.tables.read(frame, person=bruit.EACH_ROW)["x"].within(0, 10, **{"grid": "0.1", **domain})


@pytest.mark.parametrize("missing", [None, 5])
@pytest.mark.parametrize("method", [None, *METHODS])
@pytest.mark.parametrize("values", AWKWARD.values(), ids=AWKWARD.keys())
def test_any_table_gives_an_answer(
    values: list[float], method: str | None, missing: int | None, ledger: bruit.Ledger
) -> None:
    for asked in (0.5, bruit.DECILES):
        budget = ledger.budget(epsilon=2)
        release = central.quantiles(column(values, missing=missing), asked, budget=budget, method=method)
        assert len(release.value) == len(release.labels) == (1 if asked == 0.5 else 9)
        assert ((release.value >= 0) & (release.value <= 10)).all()
        assert all(low <= high for low, high in pairwise(release.value))
        assert release.guarantee.epsilon == 2


@pytest.mark.parametrize("method", [None, "exponential", "recursive", "inverse-sensitivity", "smooth"])
def test_equal_records_have_one_quantile(method: str | None, ledger: bruit.Ledger) -> None:
    release = central.quantiles(
        column([7.0] * 3000), bruit.DECILES, budget=ledger.budget(epsilon=50), method=method,
        rng=np.random.default_rng(1),
    )  # fmt: skip
    np.testing.assert_allclose(release.value, 7.0, atol=0.1 if method == "smooth" else 1e-9)


@pytest.mark.parametrize("method", [None, "exponential", "recursive", "histogram", "inverse-sensitivity", "smooth"])
def test_a_large_budget_finds_the_quantiles(method: Any, ledger: Any) -> None:
    values = np.random.default_rng(2).permutation(np.arange(10_000) / 1000)
    release = central.quantiles(
        column(values, grid="0.01", missing=0), bruit.DECILES, budget=ledger.budget(epsilon=100), method=method,
        rng=np.random.default_rng(3),
    )  # fmt: skip
    np.testing.assert_allclose(release.value, np.arange(1, 10), atol=0.05)


def test_the_default_is_chosen_by_public_numbers(ledger: bruit.Ledger) -> None:
    few, fine = column([1.0, 2.0]), column([1.0, 2.0], grid="0.00000001")
    many = [Fraction(i, 200) for i in range(1, 200)]
    budget = ledger.budget(epsilon=1)
    assert central.quantiles(few, 0.5, budget=budget).method == "exponential"
    assert central.quantiles(few, bruit.DECILES, budget=budget).method == "joint"
    assert central.quantiles(fine, many, budget=budget).method == "recursive"
    with pytest.raises(InvalidArgument, match="cannot carry this"):
        central.quantiles(fine, many, budget=budget, method="joint")
    assert len(ledger.entries) == 3


def test_rule_2_no_error_depends_on_values(ledger: Any) -> None:
    """What is refused is refused for every table, and before the charge."""
    for values in AWKWARD.values():
        for wrong in ([], [0.0, 0.5], [0.5, 0.5], [0.9, 0.1], [1.5], ["half"]):
            with pytest.raises(InvalidArgument):
                central.quantiles(column(values), wrong, budget=ledger.budget(epsilon=1))
        with pytest.raises(InvalidArgument, match="choose among joint"):
            central.quantiles(column(values), 0.5, method="median", budget=ledger.budget(epsilon=1))
        with pytest.raises(InvalidArgument, match="smoothing"):
            central.quantiles(column(values), 0.5, smoothing=1, budget=ledger.budget(epsilon=1))
        with pytest.raises(InvalidArgument, match="too small"):
            central.quantiles(column(values), 0.5, budget=ledger.budget(epsilon="0.000000000000001"))
    assert not ledger.entries


def test_never_an_uncharged_answer(neighbours: Neighbours, ledger: bruit.Ledger) -> None:
    with pytest.raises(BudgetMissing):
        central.quantiles(column([1.0]), 0.5, budget=None)
    laplace = bruit.privacy.DiscreteLaplace(1, sensitivity=1, neighbours=neighbours)
    with pytest.raises(NotPrivate):
        central.quantiles(column([1.0]), 0.5, budget=ledger.budget(laplace))
    small = bruit.Ledger("small", epsilon=1, neighbours=neighbours, person=bruit.EACH_ROW)
    with pytest.raises(BudgetExceeded):
        central.quantiles(column([1.0]), 0.5, budget=small.budget(epsilon=2))


def test_more_than_the_largest_epsilon_is_not_charged(ledger: bruit.Ledger) -> None:
    assert central.quantiles(column([1.0]), 0.5, budget=ledger.budget(epsilon=900)).guarantee.epsilon == 200


def test_the_size_is_public_only_where_it_is_stated_and_can_be(neighbours: Neighbours, ledger: bruit.Ledger) -> None:
    public = bruit.privacy.Assumption.PUBLIC_SIZE
    silent = central.quantiles(column([1.0], missing=0), 0.5, budget=ledger.budget(epsilon=1))
    assert public not in silent.guarantee.assumes
    with pytest.raises(InvalidArgument, match="public_size"):
        central.quantiles(column([1.0]), 0.5, budget=ledger.budget(epsilon=1), public_size=True)
    if neighbours is bruit.ADD_OR_REMOVE_ONE:
        with pytest.raises(InvalidArgument, match="private"):
            central.quantiles(column([1.0], missing=0), 0.5, budget=ledger.budget(epsilon=1), public_size=True)
        return
    for method in METHODS:
        stated = central.quantiles(
            column([1.0, 2.0], missing=0), 0.5, budget=ledger.budget(epsilon=1), public_size=True, method=method
        )
        assert public in stated.guarantee.assumes


def test_a_person_with_many_rows_is_bounded(neighbours: Neighbours) -> None:
    frame = pl.DataFrame({"id": [1] * 5000 + list(range(2, 1002)), "x": [9.0] * 5000 + [1.0] * 1000})
    ledger = bruit.Ledger("people", epsilon=1000, neighbours=neighbours, person="id")
    limited = bruit.tables.read(frame, person="id").limit(rows=2)["x"].within(0, 10, grid="0.1")
    release = central.quantiles(limited, [0.25, 0.5, 0.75], budget=ledger.budget(epsilon=50))
    np.testing.assert_allclose(release.value, 1.0)


def test_a_seeded_answer_repeats_and_says_so(ledger: Any) -> None:
    values = np.random.default_rng(4).uniform(0, 10, 1000)
    first, second = (
        central.quantiles(column(values), bruit.DECILES, budget=ledger.budget(epsilon=1), rng=np.random.default_rng(5))
        for _ in range(2)
    )
    np.testing.assert_array_equal(first.value, second.value)
    assert bruit.privacy.Assumption.SEEDED in first.guarantee.assumes


@pytest.mark.parametrize("rows", [0, 1, 511, 512, 5000])
def test_digits_sort_as_numpy_does(rows: int) -> None:
    values = np.random.default_rng(rows).integers(0, 2**45, rows)
    np.testing.assert_array_equal(in_order(values.copy(), 2**45), np.sort(values))


def test_rounding_of_floats_in_probabilities() -> None:
    assert as_probabilities(np.linspace(0, 1, 11)[1:-1]) == bruit.DECILES
    assert as_probabilities("1/3") == (Fraction(1, 3),)


@pytest.mark.parametrize("method", [None, "exponential", "recursive", "histogram", "inverse-sensitivity"])
def test_a_log_spacing_finds_the_quantiles_of_a_long_tail(method: str | None, ledger: bruit.Ledger) -> None:
    values = np.random.default_rng(6).lognormal(3, 2, 20_000)
    tail = bruit.tables.read(pl.DataFrame({"x": values}), person=bruit.EACH_ROW)["x"].within(0, 10**6, grid="0.1")
    release = central.quantiles(
        tail, bruit.DECILES, spacing="log1p", method=method, steps=5000, budget=ledger.budget(epsilon=50),
        rng=np.random.default_rng(7),
    )  # fmt: skip
    np.testing.assert_allclose(release.value, np.quantile(values, np.arange(1, 10) / 10), rtol=0.05, atol=0.2)
    assert release.details["spacing"] == "log1p"


def test_a_log_spacing_keeps_order_ends_and_the_grid() -> None:
    spacing = Spacing(bruit.tables.within(-5, 10**6, grid="0.5"), "log1p")
    steps = np.arange(0, spacing.domain.size, 97)
    cells = spacing.cells(steps)
    assert (np.diff(cells) >= 0).all()
    assert cells[0] == 0
    assert spacing.cells(np.array([spacing.domain.size - 1]))[0] == spacing.size - 1
    values = spacing.values(np.array([0, spacing.size - 1]))
    assert values.tolist() == [-5.0, 10.0**6]
    assert ((spacing.values(cells) * 2) % 1 == 0).all()


def test_a_spacing_that_does_not_fit_is_refused(ledger: Any) -> None:
    for wrong in ({"spacing": "log"}, {"spacing": "log1p", "method": "smooth"}):
        with pytest.raises(InvalidArgument, match="spacing"):
            central.quantiles(column([1.0]), 0.5, budget=ledger.budget(epsilon=1), **wrong)
    assert not ledger.entries
