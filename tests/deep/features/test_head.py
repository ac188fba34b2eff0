"""Private heads: what is charged, what a record can move, and that they learn."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import bruit
from bruit.deep.features import Over, Preparation, Recipe, Whitening, train_head
from bruit.deep.features.head import prepare
from bruit.deep.features.preparation import private_covariance, private_mean, row_sum, unit, whitener
from bruit.deep.features.recipe import calibrate_noises, head_loss
from bruit.errors import BudgetMissing, InvalidArgument, PrivacyError
from bruit.ledger import Budget
from bruit.privacy import Neighbours, epsilon

BOTH = (bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE)
RECIPE = Recipe(10, 8, 0.2, mean_share=0.04, whitenings=(Whitening(0.1, 0.01, over=Over.CHANNELS),))


def price(amount: float = 2.0, neighbours: Neighbours = bruit.ADD_OR_REMOVE_ONE) -> Budget:
    book = bruit.Ledger("head", epsilon=amount, delta=1e-4, neighbours=neighbours, person=bruit.EACH_ROW)
    return book.budget(epsilon=amount, delta=1e-4)


def clouds(count: int, seed: int = 0) -> tuple[torch.Tensor, torch.Tensor]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(3, size=count)
    centres = np.random.default_rng(9).normal(size=(3, 12))
    rows = centres[labels] + 0.3 * rng.normal(size=(count, 12))
    return torch.from_numpy(rows).float(), torch.from_numpy(labels)


@pytest.mark.parametrize("neighbours", BOTH)
@pytest.mark.parametrize("batch_size", [None, 50])
def test_the_charge_is_the_loss_of_all_parts_and_within_the_price(
    neighbours: Neighbours, batch_size: int | None
) -> None:
    recipe = Recipe(5, 1, 0.2, mean_share=0.1, whitenings=(Whitening(0.2, 0.1),), batch_size=batch_size)
    rows, labels = clouds(200)
    budget = price(neighbours=neighbours)
    release = train_head(rows, labels, recipe, classes=3, budget=budget, rng=np.random.default_rng(0))
    loss = head_loss(calibrate_noises(recipe, budget, 200), recipe, 200, neighbours)
    assert float(release.guarantee.epsilon) == pytest.approx(float(epsilon(loss, delta=1e-4, by="pld")))
    assert 1.99 < release.guarantee.epsilon <= 2
    assert "seeded" in release.guarantee.assumes


def test_full_steps_compose_as_one_gaussian() -> None:
    noises = calibrate_noises(RECIPE, price(), 1000)
    assert noises.mean is not None
    shift = 1 / noises.mean**2 + sum(1 / each**2 for each in noises.whitenings) + RECIPE.steps / noises.step**2
    one = bruit.privacy.Gaussian(Fraction(1 / math.sqrt(shift)), neighbours=bruit.ADD_OR_REMOVE_ONE)
    loss = head_loss(noises, RECIPE, 1000, bruit.ADD_OR_REMOVE_ONE)
    ours = float(epsilon(loss, delta=1e-4, by="pld"))
    assert ours == pytest.approx(float(epsilon(one, delta=1e-4, by="pld")), rel=1e-6)
    shares = [1 / noises.mean**2 / shift, 1 / noises.whitenings[0] ** 2 / shift]
    assert [float(each) for each in shares] == pytest.approx([0.04, 0.1], rel=1e-3)


@given(st.integers(0, 2**32 - 1), st.integers(1, 3), st.floats(1e-6, 1e6))
def test_one_record_moves_each_sum_by_at_most_one(seed: int, views: int, scale: float) -> None:
    rows = unit(torch.from_numpy(np.random.default_rng(seed).normal(size=(1, views, 12)) * scale).float())
    still = lambda like: torch.zeros_like(like)  # noqa: E731
    slack = 1 + 1e-5
    assert float(private_mean(rows, 1.0, still, 1).norm()) <= slack
    preparation = Preparation(12, 4)
    for over in Over:
        gram = preparation.grams(rows, over)
        covariance = private_covariance(gram, 1.0, still, 1)
        upper = torch.cat([covariance.diagonal(), 2**0.5 * covariance[tuple(torch.triu_indices(*covariance.shape, 1))]])  # type: ignore[call-arg]
        assert float(upper.norm()) <= slack


@pytest.mark.parametrize("size", [1e-45, 1e-40, 2.6e-23, 1e-19, 1e30, 3e38])
def test_a_row_of_tiny_or_huge_numbers_is_no_longer_than_one(size: float) -> None:
    rows = torch.full((1, 4096), size)
    rows[0, 0] = min(1.5 * size, 3.2e38)
    assert float(unit(rows).double().norm()) <= 1 + 2**-16


def test_a_record_of_half_precision_moves_the_mean_by_at_most_one() -> None:
    still = lambda like: torch.zeros_like(like)  # noqa: E731
    recipe, noises = Recipe(1, 1, 1, mean_share=0.5), calibrate_noises(Recipe(1, 1, 1, mean_share=0.5), price(), 1)
    sums = []
    for count in (10016, 10017):
        rows = torch.tensor([[1.0, 0.0]], dtype=torch.bfloat16).repeat(count, 1)
        preparation, _ = prepare(rows, recipe, noises, still, size=1, channels=None)
        sums.append(preparation.get_buffer("step_0"))
    assert float((sums[1] - sums[0]).norm()) <= 1 + 2**-16


@pytest.mark.parametrize("spread", [0.0, 0.01])
def test_one_record_among_many_moves_each_sum_by_at_most_one(spread: float) -> None:
    draws = torch.Generator().manual_seed(0)
    many, width = 50_000, 64
    base = torch.rand(width, generator=draws) + 0.5
    rows = unit(base + spread * torch.randn(many, width, generator=draws))
    preparation = Preparation(width, None)
    for add in (row_sum, lambda each: preparation.grams(each, Over.ALL)):
        for first in (unit(base[None]), unit(-base[None])):
            moved = add(torch.cat([first, rows])) - add(rows)
            assert float(moved.double().norm()) <= 1 + 2**-17


def test_the_noise_of_a_covariance_is_symmetric_and_smaller_off_the_diagonal() -> None:
    draws = torch.Generator().manual_seed(0)
    normal = lambda like: torch.randn(like.shape, generator=draws)  # noqa: E731
    found = torch.stack([private_covariance(torch.zeros(3, 3), 2.0, normal, 1) for _ in range(4000)])
    assert torch.equal(found, found.mT)
    on, off = float(found[:, 0, 0].std()), float(found[:, 0, 1].std())
    assert on == pytest.approx(2, rel=0.08)
    assert off == pytest.approx(2 / 2**0.5, rel=0.08)


def test_whitening_evens_out_what_it_is_told_to() -> None:
    covariance = torch.diag(torch.tensor([4.0, 1.0, -0.5]))
    torch.testing.assert_close(
        whitener(covariance, floor=1.0, power=0.5), torch.diag(torch.tensor([5.0**-0.5, 2.0**-0.5, 1.0]))
    )


@pytest.mark.parametrize("over", list(Over))
def test_a_prepared_record_alone_is_as_among_others(over: Over) -> None:
    rows, _ = clouds(30)
    recipe = Recipe(1, 1, 1, mean_share=0.1, whitenings=(Whitening(0.1, 0.01, over=over),))
    noises = recipe.noises(0.01, 30)
    preparation, ready = prepare(rows, recipe, noises, torch.zeros_like, size=30, channels=4)
    torch.testing.assert_close(preparation(rows[3:5]), ready[3:5])
    torch.testing.assert_close(ready.norm(dim=1), torch.ones(30))


@pytest.mark.parametrize(
    "recipe", [RECIPE, Recipe(15, 4, 0.2, hidden=(16,), average=True), Recipe(30, 4, 0.2, batch_size=500, adam=False)]
)
def test_heads_learn(recipe: Recipe) -> None:
    rows, labels = clouds(2000)
    test, truth = clouds(500, seed=1)
    budget = price(4.0)
    rng = np.random.default_rng(3)
    head = train_head(rows, labels, recipe, classes=3, budget=budget, channels=4, rng=rng).value
    assert float((head(test).argmax(1) == truth).float().mean()) > 0.9


def test_views_are_averaged() -> None:
    rows, labels = clouds(300)
    views = torch.stack([rows, rows], 1)
    rng = [np.random.default_rng(5) for _ in range(2)]
    recipe = Recipe(5, 4, 0.2)
    one = train_head(rows, labels, recipe, classes=3, budget=price(), rng=rng[0]).value
    two = train_head(views, labels, recipe, classes=3, budget=price(), rng=rng[1]).value
    torch.testing.assert_close(one(rows), two(views), atol=1e-4, rtol=1e-4)


def test_rule_2_no_error_depends_on_values() -> None:
    rows, labels = clouds(100)
    rows[0], rows[1, 0], rows[2] = math.nan, math.inf, 0.0
    labels[3] = 99
    release = train_head(rows, labels, RECIPE, classes=3, budget=price(), channels=4, rng=np.random.default_rng(0))
    assert all(bool(each.isfinite().all()) for each in release.value.state_dict().values())


def test_rule_1_nothing_is_trained_without_a_budget_and_the_size_is_public_or_stated() -> None:
    rows, labels = clouds(100)
    with pytest.raises(BudgetMissing):
        train_head(rows, labels, RECIPE, classes=3, budget=None)
    assumed = train_head(rows, labels, Recipe(1, 1, 1), classes=3, budget=price()).guarantee.assumes
    assert "public size" in assumed
    assert (
        "public size"
        not in train_head(rows, labels, Recipe(1, 1, 1), classes=3, budget=price(), size=90).guarantee.assumes
    )


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"features": torch.zeros(5)}, "records, features"),
        ({"labels": torch.zeros(100)}, "whole number"),
        ({"classes": 1}, "at least 2"),
        ({"channels": 5}, "does not divide"),
    ],
)
def test_wrong_arguments_are_explained(change: dict[str, Any], told: str) -> None:
    rows, labels = clouds(100)
    asked: dict[str, Any] = {"features": rows, "labels": labels, "classes": 3} | change
    with pytest.raises(InvalidArgument, match=told):
        train_head(asked.pop("features"), asked.pop("labels"), RECIPE, budget=price(), **asked)


def test_rule_6_a_book_of_people_does_not_pay_for_rows() -> None:
    people = bruit.Ledger("p", epsilon=2, delta=1e-4, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id")
    with pytest.raises(PrivacyError, match="protects 'id'"):
        train_head(*clouds(100), Recipe(1, 1, 1), classes=3, budget=people.budget(epsilon=2, delta=1e-4))
    assert people.entries == ()


def test_shares_must_leave_something() -> None:
    with pytest.raises(InvalidArgument, match="leave something"):
        Recipe(1, 1, 1, mean_share=0.9, whitenings=(Whitening(0.1, 1),))
    with pytest.raises(InvalidArgument, match="share"):
        Whitening(0, 1)


@pytest.mark.parametrize("over", [Over.CHANNELS, Over.POSITIONS])
def test_a_whitening_without_channels_is_refused_before_the_charge(over: Over) -> None:
    rows, labels = clouds(30)
    budget = price()
    recipe = Recipe(1, 1, 1, whitenings=(Whitening(0.1, 0.01, over=over),))
    with pytest.raises(InvalidArgument, match="needs channels="):
        train_head(rows, labels, recipe, classes=3, budget=budget)
    assert budget.ledger.entries == ()


@pytest.mark.parametrize("neighbours", BOTH)
def test_the_size_of_a_cell_is_never_read_from_the_data(neighbours: Neighbours) -> None:
    rows, labels = clouds(30)
    book = bruit.Ledger("wards", epsilon=4, delta=1e-3, neighbours=neighbours, person=bruit.EACH_ROW)
    cell = book.partition("ward").budget("north", epsilon=1, delta=1e-4)
    with pytest.raises(InvalidArgument, match="its size is private; give size="):
        train_head(rows, labels, Recipe(1, 1, 1), classes=3, budget=cell)
    release = train_head(rows, labels, Recipe(1, 1, 1), classes=3, budget=cell, size=40)
    assert "public size" not in release.guarantee.assumes
