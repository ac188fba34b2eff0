"""A private search over recipes: the price before is the charge after, and the better recipe is found."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import torch
from sklearn.datasets import load_digits

import bruit
from bruit.deep import NetworkRecipe, Recipe, RecipeSearch
from bruit.deep.features import FrozenHead, Whitening
from bruit.deep.features.head import plan_head
from bruit.deep.features.preparation import Preparation
from bruit.deep.features.recipe import head_loss
from bruit.deep.searching import SCORED_TOGETHER, Trial
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger.best_of_runs import RunPrice, _sign_epsilon
from bruit.privacy import ADD_OR_REMOVE_ONE, EACH_ROW, REPLACE_ONE, Assumption, Gaussian, Pure, delta

GOOD, BAD = Recipe(30, rate=2.0, clip=1.0), Recipe(30, rate=1e-6, clip=1.0, hidden=(2,))


def book(**terms: Any) -> bruit.Ledger:
    usual: dict[str, Any] = {"epsilon": 100, "delta": 1e-3, "neighbours": ADD_OR_REMOVE_ONE}
    return bruit.Ledger("digits", **(usual | terms), person=EACH_ROW)


def digits() -> tuple[torch.Tensor, torch.Tensor]:
    images, labels = load_digits(return_X_y=True)
    return torch.tensor(images / 16, dtype=torch.float32), torch.tensor(labels)


def linear() -> torch.nn.Module:
    return torch.nn.Linear(64, 10)


NETWORK = NetworkRecipe(linear, epochs=1, batch_size=20, clip=1.0)


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
    assert 6 / 3 < found.details["epsilon_of_a_run"] < 6  # two thirds are not lost where all noise is normal


def test_networks_cost_three_runs_as_before() -> None:
    budget = book().budget(epsilon=6, delta=1e-5)
    run = RecipeSearch(recipes=[NETWORK], classes=10, budget=budget, tries=2)._price()[1]
    assert run.epsilon == pytest.approx(2, rel=1e-5)


class Prints(torch.nn.Linear):
    """Reads values as text, so that its samples come one after the other."""

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        found: torch.Tensor = super().forward(values)
        return found * len(f"{found.detach()}"[:1])


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
def test_a_search_assumes_what_its_trainings_assume() -> None:
    held = book()
    recipe = NetworkRecipe(lambda: Prints(64, 10), epochs=1, batch_size=5, clip=1.0)
    search = RecipeSearch(recipes=[recipe], classes=10, budget=held.budget(epsilon=6, delta=1e-5), tries=1)
    found = search.fit(*(part[:24] for part in digits()))
    assert Assumption.SAMPLES_APART in found.guarantee.assumes


@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_all_noise_of_a_head_is_that_of_one_gaussian_run(neighbours: Any) -> None:
    recipe = Recipe(7, rate=2.0, clip=0.3, mean_share=0.1, whitenings=(Whitening(0.2, 0.01),))
    budget = book(neighbours=neighbours).budget(epsilon=3, delta=1e-5)
    run = RecipeSearch(recipes=[recipe], classes=10, budget=budget, tries=5)._price()[1]
    noises = plan_head(recipe, 12, None, run.budget("run"), 500)
    loss = head_loss(noises, recipe, 500, neighbours)
    precision = sum(times / part.noise**2 for part, times in loss.parts() if isinstance(part, Gaussian))
    assert isinstance(run.loss, Gaussian)
    assert 0.999 < precision * run.loss.noise**2 <= 1


@pytest.mark.parametrize("noise", [0.3, 1.0, 5.0])
def test_the_noise_of_a_score_is_no_more_than_a_gaussian_run(noise: float) -> None:
    """The delta of any mechanism of that epsilon, at every epsilon, beside the Gaussian's."""
    run = Gaussian(Fraction(noise), neighbours=ADD_OR_REMOVE_ONE)
    score = Pure(_sign_epsilon(run), neighbours=ADD_OR_REMOVE_ONE)
    for share in np.linspace(0, 1.5, 31):
        at = float(share * score.epsilon)
        assert delta(score, epsilon=at, by="pld") <= delta(run, epsilon=at, by="pld") * (1 + 1e-9) + 1e-12
    wider = Pure(1.01 * _sign_epsilon(run), neighbours=ADD_OR_REMOVE_ONE)
    assert delta(wider, epsilon=0, by="pld") > delta(run, epsilon=0, by="pld")


def test_a_lack_of_memory_is_told_and_gives_no_untrained_model(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Trial, recipe: Any, inputs: torch.Tensor, *others: Any) -> Any:
        if len(inputs) > 10:
            raise torch.OutOfMemoryError("no room")
        return fit(self, recipe, inputs, *others)

    fit = Trial.fit
    monkeypatch.setattr(Trial, "fit", full)
    search = RecipeSearch(recipes=[GOOD], classes=10, budget=book().budget(epsilon=6, delta=1e-5), tries=1)
    with pytest.raises(torch.OutOfMemoryError):
        search.fit(*digits())


@pytest.mark.parametrize("strange", [[float("nan")] * 2, [float("inf"), 0.0], [3e38, -3e38]])
def test_a_head_scores_records_together_as_it_does_alone(strange: list[float], monkeypatch: pytest.MonkeyPatch) -> None:
    records = torch.rand(SCORED_TOGETHER + 30, 2, generator=torch.Generator().manual_seed(2))
    records[5] = torch.tensor(strange)
    records[-3] = torch.tensor(strange)
    head = torch.nn.Linear(2, 2, bias=False)
    whole = FrozenHead(Preparation(2, None), head, head, average=False)
    together, _ = exact_scores(lambda: whole, records, monkeypatch)
    monkeypatch.setattr("bruit.deep.searching.FrozenHead", type(None))
    alone, _ = exact_scores(lambda: whole, records, monkeypatch)
    assert together == alone


@pytest.mark.stress
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


def exact_scores(make: Any, records: torch.Tensor, monkeypatch: pytest.MonkeyPatch) -> tuple[int, torch.nn.Module]:
    """The number of records that a network counts as right, without noise, and the network afterwards."""
    monkeypatch.setattr(RunPrice, "score_noise", lambda *_: np.zeros(1, np.int64))
    model = make()
    run = RecipeSearch(recipes=[GOOD], classes=2, budget=book().budget(epsilon=6, delta=1e-5))._price()[1]
    trial = Trial(run, classes=2, parts=2, size=len(records), seed=None)
    right = trial.score(model, records, torch.ones(len(records), dtype=torch.long), np.random.default_rng(1))
    return int(right), model


class MixesInEval(torch.nn.Linear):
    """Turns the scores of all records round where one of them is large."""

    def forward(self, records: torch.Tensor) -> torch.Tensor:
        return records if self.training else records * torch.sign(50 - records.max())


class Remembers(torch.nn.BatchNorm1d):
    """Turns all scores round once a large record was seen; keeps that in a buffer and in an attribute."""

    worst = 0.0

    def forward(self, records: torch.Tensor) -> torch.Tensor:
        assert self.running_mean is not None
        self.running_mean += records[0]
        self.worst = max(self.worst, float(records.max()))
        return records * torch.sign(50 - torch.maximum(self.running_mean.max(), torch.tensor(self.worst)))


class Throws(torch.nn.Linear):
    """Draws from torch as often as a record says, and turns its scores by the last draw."""

    def forward(self, records: torch.Tensor) -> torch.Tensor:
        return records * torch.sign(torch.rand(int(records.max()))[-1] - 0.5)


class Fails(torch.nn.Linear):
    """Knows no large numbers."""

    def forward(self, records: torch.Tensor) -> torch.Tensor:
        return records if records.max() < 50 else torch.nn.functional.embedding(records.long(), self.weight)


class ReadsStorage(torch.nn.Linear):
    """Turns its scores round where a large number lies in the memory of its input, which of a view is that of all."""

    def forward(self, records: torch.Tensor) -> torch.Tensor:
        return records * torch.sign(50 - torch.empty(0).set_(records.untyped_storage()).max())


@pytest.mark.parametrize("network", [MixesInEval, Remembers, Throws, Fails, ReadsStorage])
@pytest.mark.parametrize("strange", [[99.0, 0.0], [float("nan")] * 2, [float("inf"), 0.0]])
def test_rule_12_one_record_moves_the_score_by_at_most_one(
    network: Any, strange: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    records = torch.tensor([[0.0, 1.0]]).repeat(40, 1)
    make = (lambda: network(2)) if network is Remembers else (lambda: network(2, 2))
    before, _ = exact_scores(make, records, monkeypatch)
    records[0] = torch.tensor(strange)
    after, model = exact_scores(make, records, monkeypatch)
    assert abs(after - before) <= 1
    assert before in (0, 40)
    assert all(bool(torch.isfinite(kept).all()) for kept in model.buffers())


def test_where_nobody_is_held_back_nobody_is_right(monkeypatch: pytest.MonkeyPatch) -> None:
    assert exact_scores(lambda: torch.nn.Linear(3, 2), torch.zeros(0, 3), monkeypatch)[0] == 0


def test_scores_are_those_of_all_records_together(monkeypatch: pytest.MonkeyPatch) -> None:
    records = torch.randn(60, 3, generator=torch.Generator().manual_seed(1))
    right, model = exact_scores(lambda: torch.nn.Linear(3, 2), records, monkeypatch)
    assert right == int((model(records).argmax(1) == 1).sum())


def test_scoring_leaves_every_layer_in_its_mode(monkeypatch: pytest.MonkeyPatch) -> None:
    def frozen() -> torch.nn.Module:
        layers = torch.nn.Sequential(torch.nn.BatchNorm1d(2), torch.nn.Dropout(), torch.nn.Linear(2, 2))
        layers[0].eval()
        return layers

    _, model = exact_scores(frozen, torch.ones(3, 2), monkeypatch)
    assert [layer.training for layer in model.modules()] == [True, False, True, True]


def test_a_record_no_network_can_read_is_not_told() -> None:
    tokens = torch.arange(80)[:, None] % 8
    tokens[-1] = 99
    recipe = NetworkRecipe(
        lambda: torch.nn.Sequential(torch.nn.Embedding(8, 2), torch.nn.Flatten()), epochs=1, batch_size=40, clip=1.0
    )
    held = book()
    for seed in range(4):  # the record is held back, or trained on
        asked: dict[str, Any] = {"tries": 1, "held_parts": 2, "rng": np.random.default_rng(seed)}
        budget = held.budget(epsilon=6, delta=1e-5)
        RecipeSearch(recipes=[recipe], classes=2, budget=budget, **asked).fit(tokens, (tokens[:, 0] > 3).long())
    assert all(entry.finished for entry in held.entries)


def test_a_seed_of_torch_tells_neither_the_best_run_nor_their_number() -> None:
    def make() -> torch.nn.Module:
        layers = torch.nn.Sequential(torch.nn.Linear(2, 3).requires_grad_(False), torch.nn.Linear(3, 2))
        made.append(layers[0].weight.clone())
        return layers

    made: list[torch.Tensor] = []
    records = torch.ones(40, 2), torch.ones(40, dtype=torch.long)
    recipe = NetworkRecipe(make, epochs=1, batch_size=20, clip=1.0)
    torch.manual_seed(0)
    before = torch.get_rng_state()
    starts = []
    for seed in (1, 2):
        asked: dict[str, Any] = {"tries": 2, "rng": np.random.default_rng(seed)}
        RecipeSearch(recipes=[recipe], classes=2, budget=book().budget(epsilon=6, delta=1e-5), **asked).fit(*records)
        assert torch.equal(torch.get_rng_state(), before)
        starts.append(made[1])  # the first after the rehearsal
        made.clear()
    assert not torch.equal(*starts)


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


def test_a_network_that_cannot_be_copied_is_refused_uncharged() -> None:
    def make() -> torch.nn.Module:
        made = linear()
        made.halves = made.weight / 2  # type: ignore[assignment]  # torch copies no tensor that has a gradient's graph
        return made

    held = book()
    recipe = NetworkRecipe(make, epochs=1, batch_size=10, clip=1.0)
    with pytest.raises(InvalidArgument, match="deepcopy"):
        RecipeSearch(recipes=[recipe], classes=10, budget=held.budget(epsilon=6, delta=1e-5)).fit(*digits())
    assert not held.entries


def few_digits(by: Any, neighbours: Any, recipe: Any) -> tuple[bruit.Ledger, RecipeSearch, Any]:
    """A book, a search that it pays for, and eighty records."""
    held = book(by=by, delta=1e-5, neighbours=neighbours)
    price = held.budget(epsilon=20, delta=1e-5)
    search = RecipeSearch(recipes=[recipe], classes=10, budget=price, tries=2, rng=np.random.default_rng(1))
    return held, search, tuple(part[:80] for part in digits())


@pytest.mark.parametrize(
    ("by", "neighbours", "recipe"),
    [
        ("zcdp", REPLACE_ONE, Recipe(4, rate=2.0, clip=1.0)),
        ("zcdp", ADD_OR_REMOVE_ONE, NETWORK),
        (("rdp", 8), ADD_OR_REMOVE_ONE, Recipe(4, rate=2.0, clip=1.0)),
        (("rdp", 8), ADD_OR_REMOVE_ONE, Recipe(4, rate=2.0, clip=1.0, batch_size=20)),
        (("rdp", 8), REPLACE_ONE, NETWORK),
    ],
)
def test_books_of_renyi_divergences_pay_the_price_that_was_told(by: Any, neighbours: Any, recipe: Any) -> None:
    held, search, records = few_digits(by, neighbours, recipe)
    before, found = search.quote(), search.fit(*records)
    (entry,) = held.entries
    assert (found.guarantee, entry.loss) == (before.guarantee, before.loss)
    assert held.spent.total == before.total
    assert 19 < found.guarantee.epsilon <= 20


def test_what_no_accountant_proves_is_refused_uncharged() -> None:
    held, search, records = few_digits("zcdp", REPLACE_ONE, NETWORK)
    with pytest.raises(NotPrivate, match="by pld or rdp"):
        search.fit(*records)
    assert not held.entries


def test_a_price_without_a_delta_is_refused() -> None:
    for held in (book(delta=0), book(by="zcdp")):
        with pytest.raises(InvalidArgument, match="needs a delta"):
            RecipeSearch(recipes=[GOOD], classes=10, budget=held.budget(epsilon=1)).quote()
