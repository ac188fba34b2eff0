"""A private search over recipes: the price before is the charge after, and the better recipe is found."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

import bruit
from bruit.deep import NetworkRecipe, Recipe, RecipeSearch
from bruit.errors import InvalidArgument
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, Assumption

GOOD, BAD = Recipe(30, rate=2.0, clip=1.0), Recipe(30, rate=1e-6, clip=1.0, hidden=(2,))


def book(**terms: Any) -> bruit.Ledger:
    usual: dict[str, Any] = {"epsilon": 100, "delta": 1e-3}
    return bruit.Ledger("digits", **(usual | terms), neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    images, labels = load_digits(return_X_y=True)
    return torch.tensor(images / 16, dtype=torch.float32), torch.tensor(labels)


def linear() -> torch.nn.Module:
    return torch.nn.Linear(64, 10)


def test_the_price_before_is_the_charge_after() -> None:
    held = book()
    asked: dict[str, Any] = {"budget": held.budget(epsilon=6, delta=1e-5), "tries": 2, "rng": np.random.default_rng(1)}
    search = RecipeSearch(recipes=[GOOD, BAD], classes=10, **asked)
    before = search.quote()
    assert not held.entries
    found = search.fit(*digits())
    (entry,) = held.entries
    assert entry.finished
    assert found.guarantee == before.guarantee
    assert (float(held.spent.epsilon), float(held.spent.delta)) == pytest.approx((6, 1e-5), rel=1e-6)
    assert {Assumption.IDEALISED_ARITHMETIC, Assumption.PUBLIC_SIZE, Assumption.SEEDED} == set(found.guarantee.assumes)
    assert found.details["epsilon_of_a_run"] == pytest.approx(2, rel=1e-5)


def test_the_better_recipe_is_found_and_learns() -> None:
    images, labels = digits()
    asked: dict[str, Any] = {"tries": 6, "rng": np.random.default_rng(3)}
    budget = book().budget(epsilon=12, delta=1e-5)
    found = RecipeSearch(recipes=[BAD, GOOD], classes=10, budget=budget, **asked).fit(images, labels)
    assert found.details["recipe"] == 1
    with torch.no_grad():
        assert (found.value(images).argmax(1) == labels).float().mean() > 0.7


def test_networks_are_searched_too_and_records_that_break_one_are_not_told() -> None:
    images, labels = digits()
    good = NetworkRecipe(linear, epochs=2, batch_size=256, clip=1.0, optimiser=lambda p: torch.optim.SGD(p, lr=1.0))
    budget = book().budget(epsilon=12, delta=1e-5)
    search = RecipeSearch(recipes=[good], classes=10, budget=budget, tries=1, rng=np.random.default_rng(1))
    found = search.fit(images, labels)
    with torch.no_grad():
        assert (found.value(images).argmax(1) == labels).float().mean() > 0.5
    labels[:3] = 77  # no such class: the loss fails wherever one of them is drawn
    assert isinstance(search.fit(images, labels).value, torch.nn.Linear)


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"recipes": []}, "list of deep.Recipe"),
        ({"recipes": ["fast"]}, "list of deep.Recipe"),
        ({"tries": 0}, "tries"),
        ({"held_parts": 1}, "held_parts"),
        ({"classes": 1}, "classes"),
        ({"stopping": "soon"}, "stopping"),
        ({"recipes": [NetworkRecipe(linear, epochs=1, batch_size=5000, clip=1.0)]}, "batch_size"),
        ({"recipes": [NetworkRecipe(linear, epochs=1, batch_size=10, clip=-1.0)]}, "clip"),
    ],
)
def test_what_cannot_be_searched_is_refused_uncharged(given: dict[str, Any], says: str) -> None:
    held = book()
    asked: dict[str, Any] = {"recipes": [GOOD], "classes": 10, **given}
    with pytest.raises(InvalidArgument, match=says):
        RecipeSearch(budget=held.budget(epsilon=6, delta=1e-5), **asked).fit(*digits())
    assert not held.entries


def test_books_that_do_not_add_up_whole_laws_are_refused() -> None:
    for held in (book(by="zcdp"), book(delta=0)):
        price = held.budget(epsilon=1, delta=1e-5) if held.terms.delta else held.budget(epsilon=1)
        with pytest.raises(InvalidArgument, match="accounts by 'basic'"):
            RecipeSearch(recipes=[GOOD], classes=10, budget=price).quote()
