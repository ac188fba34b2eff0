"""A private training, step by step and in one call."""

import copy
import os
import pickle
from typing import Any

import numpy as np
import pytest
import torch
from deep.books import halves, ledger
from laws import ALARM
from scipy import stats
from torch import Tensor, nn

import bruit
from bruit.deep import AdaptiveClip, Clipping, Engine, privatise, train
from bruit.errors import BudgetExceeded, BudgetMissing, InvalidArgument, NotPrivate, PrivacyError

torch.set_num_threads(1)


def started(model: nn.Module, *, learning_rate: float = 0.1, **changed: Any) -> bruit.deep.Training:
    book = ledger()
    given = {
        "budget": book.budget(epsilon=8.0, delta=1e-5),
        "epochs": 1,
        "batch_size": 64,
        "clip": 1.0,
        "rng": np.random.default_rng(1),
        "data": halves(),
    } | changed
    data = given.pop("data")
    return privatise(model, torch.optim.SGD(model.parameters(), lr=learning_rate), data, **given)  # type: ignore[arg-type]


def test_a_model_learns_and_is_released_as_it_is() -> None:
    torch.manual_seed(1)
    model, book, seen = nn.Linear(4, 2), ledger(), list[tuple[int, int]]()
    inputs, targets = halves(2048)
    run = train(
        model,
        (inputs, targets),
        budget=book.budget(epsilon=4.0, delta=1e-5),
        epochs=4,
        batch_size=256,
        clip=1.0,
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=2.0),
        on_progress=lambda done, steps: seen.append((done, steps)),
        rng=np.random.default_rng(2),
    )
    assert run.value is model
    assert (model(inputs).argmax(1) == targets).float().mean() > 0.9
    assert seen == [(step, 32) for step in range(1, 33)]
    assert run.guarantee.epsilon <= 4
    assert {"idealised arithmetic", "public size", "seeded"} == set(run.guarantee.assumes)
    assert book.entries[0].release is not None


def test_an_optimiser_of_the_models_parameters_is_taken_as_it_is() -> None:
    torch.manual_seed(1)
    model, book = nn.Linear(4, 2), ledger()
    before = model.weight.detach().clone()
    given = {"budget": book.budget(epsilon=4.0, delta=1e-5), "epochs": 1, "batch_size": 64, "clip": 1.0}
    train(model, halves(), optimiser=torch.optim.SGD(model.parameters(), lr=1.0), **given)  # type: ignore[arg-type]
    assert not torch.equal(model.weight, before)


@pytest.mark.parametrize("optimiser", ["sgd", torch.optim.SGD(nn.Linear(4, 2).parameters(), lr=1.0), torch.optim.LBFGS])
def test_what_is_no_optimiser_of_the_model_is_refused_before_anything_is_charged(optimiser: object) -> None:
    book = ledger()
    given = {"budget": book.budget(epsilon=4.0, delta=1e-5), "epochs": 1, "batch_size": 64, "clip": 1.0}
    with pytest.raises(InvalidArgument, match=r"lambda parameters: torch\.optim\.SGD|not the model's|a closure"):
        train(nn.Linear(4, 2), halves(), optimiser=optimiser, **given)  # type: ignore[arg-type]
    assert not book.entries


def test_the_whole_run_is_one_charge_made_before_the_data_is_read() -> None:
    class Locked(torch.utils.data.Dataset[tuple[Tensor, Tensor]]):
        opened = False

        def __len__(self) -> int:
            return 256

        def __getitem__(self, place: int) -> tuple[Tensor, Tensor]:
            if self.opened:
                raise OSError("the disk is gone")
            return halves()[0][place], halves()[1][place]

    book, data = ledger(), Locked()
    training = started(
        nn.Linear(4, 2), data=data, budget=book.budget(epsilon=2.0, delta=1e-5), example=(torch.zeros(4), 0)
    )
    (entry,) = book.entries
    assert entry.loss == training.plan.loss
    ((each, times),) = entry.loss.parts()
    assert (type(each), times) == (bruit.privacy.Sampled, 4)
    assert 0.99 * 2 <= entry.guarantee.epsilon <= 2
    data.opened = True
    with pytest.raises(OSError, match="disk"):
        training.step(next(iter(training)))
    assert training.done == 1
    assert len(book.entries) == 1


def test_steps_beyond_the_plan_are_refused() -> None:
    training = started(nn.Linear(4, 2))
    last = [training.step(batch) or batch for batch in training][-1]  # type: ignore[func-returns-value]
    assert training.done == training.steps == 4
    assert list(training) == []
    with pytest.raises(BudgetExceeded, match="4 steps that were planned and charged"):
        training.step(last)


def test_a_batch_pays_for_one_step() -> None:
    training = started(nn.Linear(4, 2))
    first = next(iter(training))
    training.step(first)
    with pytest.raises(InvalidArgument, match="a batch pays for one step"):
        training.step(first)
    assert training.done == 1


def test_rule_8_a_training_is_neither_copied_nor_taken_into_another_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Once each copy took all steps that were paid for once, with noise of its own, and no book knew."""
    training = started(nn.Linear(4, 2), rng=None)
    for again in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(PrivacyError, match="copied"):
            again(training)
    batch = next(iter(training))
    with monkeypatch.context() as patched:
        patched.setattr(os, "getpid", lambda: -1)
        with pytest.raises(PrivacyError, match="process"):
            training.step(batch)
    training.step(batch)
    assert training.done == 1


def test_the_gradient_is_the_clipped_sum_and_its_noise_over_the_expected_batch() -> None:
    model = nn.Linear(4, 2).double()
    inputs, targets = halves()
    training = started(model, learning_rate=0.0, data=(inputs.double(), targets))
    noise = training._noisy({})
    training._noisy = lambda sums: {name: sums[name] + noise[name] for name in noise}  # type: ignore[method-assign]
    batch = next(iter(training))
    training.step(batch)
    chosen = torch.from_numpy(batch.places)
    sums = training.engine.clipped_sum((inputs.double()[chosen],), targets[chosen], torch.ones(len(chosen)))
    for name, parameter in model.named_parameters():
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, sums[name] / 64 + noise[name], rtol=1e-12, atol=1e-12)


def test_computing_in_parts_changes_nothing() -> None:
    gradients = []
    for at_once in (None, 5):
        torch.manual_seed(2)
        model = nn.Linear(4, 2).double()
        inputs, targets = halves()
        training = started(model, data=(inputs.double(), targets), at_once=at_once)
        training.step(next(iter(training)))
        gradients.append(torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]))
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-12)


def test_an_empty_batch_still_gets_noise_of_the_right_size() -> None:
    model = nn.Linear(400, 50)
    data = (torch.zeros(1000, 400), torch.zeros(1000, dtype=torch.long))
    training = started(model, learning_rate=0.0, data=data, batch_size=1, clip=3.0)
    batch = next(iter(training))
    object.__setattr__(batch, "places", np.arange(0))
    training.step(batch)
    noise = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None]).double().numpy()
    scaled = (noise / (3.0 * training.plan.noise_multiplier)) ** 2
    low, high = (stats.chi2.ppf(share, noise.size) for share in (ALARM / 2, 1 - ALARM / 2))
    assert low < scaled.sum() < high


def test_parameters_that_the_data_does_not_touch_get_noise_too() -> None:
    class Partly(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.used, self.idle = nn.Linear(4, 2), nn.Linear(4, 2)

        def forward(self, values: Tensor) -> Tensor:
            return self.used(values)

    model = Partly()
    training = started(model)
    training.step(next(iter(training)))
    assert all(p.grad is not None and p.grad.abs().min() > 0 for p in model.parameters())


def test_a_seeded_generator_gives_the_same_model_only_for_the_same_entry() -> None:
    def weights(seed: int, book: bruit.Ledger) -> Tensor:
        torch.manual_seed(3)
        model = nn.Linear(4, 2)
        budget = book.budget(epsilon=1.0, delta=1e-5)
        return train(
            model, halves(), budget=budget, epochs=1, batch_size=64, clip=1.0, rng=np.random.default_rng(seed)
        ).value.weight.detach()

    book = ledger()
    first = weights(7, book)
    assert torch.equal(first, weights(7, ledger()))
    assert not torch.equal(first, weights(7, book))  # the second entry of the same book


def test_without_a_generator_no_two_trainings_share_noise() -> None:
    models = []
    for _ in range(2):
        torch.manual_seed(3)
        models.append(nn.Linear(4, 2))
        training = started(models[-1], rng=None)
        assert "AES-128" in training.stream.name
        training.step(next(iter(training)))
    assert not torch.equal(models[0].weight, models[1].weight)


def test_what_is_spent_so_far_grows_up_to_the_charge() -> None:
    training = started(nn.Linear(4, 2))
    spent = [training.epsilon_so_far()] + [training.step(batch) or training.epsilon_so_far() for batch in training]  # type: ignore[func-returns-value]
    assert spent[0] == 0
    assert spent == sorted(spent)
    assert spent[-1] == float(training.charge.guarantee.epsilon)


@pytest.mark.parametrize("neighbours", [bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE])
def test_a_stated_size_is_no_assumption(neighbours: bruit.privacy.Neighbours) -> None:
    budget = ledger(neighbours=neighbours).budget(epsilon=8.0, delta=1e-5)
    training = started(nn.Linear(4, 2), budget=budget, size=300, rng=None)
    assert training.charge.guarantee.assumes == ("idealised arithmetic",)
    assert training.sampler.rate == bruit.privacy.exactly("64/300", "rate")


@pytest.mark.parametrize("how", Clipping)
def test_every_optimiser_and_clipping_runs(how: Clipping) -> None:
    run = train(
        nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2)),
        halves(),
        budget=ledger().budget(epsilon=8.0, delta=1e-5),
        epochs=1,
        batch_size=64,
        clip=0.5,
        clipping=how,
        optimiser=torch.optim.AdamW,
    )
    assert run.details["clipping"] == how


def test_rule_2_no_error_depends_on_a_label_or_a_value() -> None:
    inputs, targets = halves()
    targets[3], targets[5], inputs[7] = 9, -100, torch.nan
    model = nn.Linear(4, 2)
    training = started(model, data=(inputs, targets), batch_size=256)
    training.step(next(iter(training)))
    assert all(bool(p.isfinite().all()) for p in model.parameters())


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"budget": None}, BudgetMissing, "needs a budget"),
        ({"clip": 0.0}, InvalidArgument, "clip=0.0"),
        ({"at_once": 0}, InvalidArgument, "at_once=0"),
        ({"batch_size": 1000}, InvalidArgument, "larger than the data set"),
        ({"loss": nn.CrossEntropyLoss()}, InvalidArgument, "reduction='none'"),
        (
            {"data": (torch.zeros(256, 5), torch.zeros(256).long())},
            InvalidArgument,
            "do not take zeros and ones of the shapes",
        ),
        (
            {"data": (torch.zeros(256, 4), torch.zeros(256, 3))},
            InvalidArgument,
            "do not take zeros and ones of the shapes",
        ),
    ],
)
def test_what_cannot_be_trained_is_said_before_anything_is_charged(
    changed: dict[str, Any], error: type[Exception], message: str
) -> None:
    book = ledger()
    with pytest.raises(error, match=message):
        started(nn.Linear(4, 2), **({"budget": book.budget(epsilon=1.0, delta=1e-5)} | changed))
    assert book.entries == ()


def test_a_loss_that_is_averaged_is_told_of_one_that_no_label_stops() -> None:
    with pytest.raises(InvalidArgument, match=r"bruit\.deep\.cross_entropy.*reduction='none'"):
        started(nn.Linear(4, 2), loss=nn.CrossEntropyLoss())


def test_too_little_memory_is_said_without_the_size_of_the_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    training = started(nn.Linear(4, 2), batch_size=32)

    def full(*_: object) -> None:
        raise torch.OutOfMemoryError("no room")

    monkeypatch.setattr(Engine, "clipped_sum", full)
    texts = set()
    for batch in training:
        with pytest.raises(InvalidArgument, match=r"^about 32 samples at once do not fit") as caught:
            training.step(batch)
        texts.add(str(caught.value))
    assert len(texts) == 1


@pytest.mark.parametrize("neighbours", [bruit.ADD_OR_REMOVE_ONE, bruit.REPLACE_ONE])
def test_the_size_of_a_cell_is_never_read_from_the_data(neighbours: bruit.privacy.Neighbours) -> None:
    book = ledger(neighbours=neighbours)
    cell = book.partition("ward").budget("north", epsilon=1.0, delta=1e-5)
    with pytest.raises(InvalidArgument, match="its size is private; give size="):
        started(nn.Linear(4, 2), budget=cell)
    assert book.entries == ()
    told = [started(nn.Linear(4, 2), budget=cell, size=300, data=halves(count)).release() for count in (256, 257)]
    assert told[0].details == told[1].details
    assert "public size" not in told[0].guarantee.assumes


class _Words(nn.Module):
    """A table of words, and a second one without a rule that is asked by name."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.others, self.last = nn.Embedding(10, 4), nn.Embedding(10, 4, max_norm=None), nn.Linear(20, 2)
        self.others.scale_grad_by_freq = True

    def forward(self, words: Tensor) -> Tensor:
        return self.last((self.words(words) + self.others(input=words)).flatten(1))


@pytest.mark.parametrize("word", [10, 99, -1])
def test_rule_2_no_error_depends_on_a_word_beyond_the_table(word: int) -> None:
    words, targets = torch.randint(10, (64, 5)), torch.randint(2, (64,))
    words[3, 2] = word
    for model in (nn.Sequential(nn.Embedding(10, 4), nn.Flatten(), nn.Linear(20, 2)), _Words()):
        training = started(model, data=(words, targets), batch_size=64)
        training.step(next(iter(training)))
        assert all(bool(p.isfinite().all()) for p in model.parameters())


def test_rule_6_a_book_of_people_does_not_pay_for_records() -> None:
    people = bruit.Ledger("p", epsilon=2, delta=1e-3, neighbours=bruit.ADD_OR_REMOVE_ONE, person="id")
    with pytest.raises(PrivacyError, match="protects 'id'"):
        started(nn.Linear(4, 2), budget=people.budget(epsilon=1.0, delta=1e-5))
    assert people.entries == ()


def test_a_budget_without_delta_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="Gaussian noise needs a delta"):
        started(nn.Linear(4, 2), budget=ledger().budget(epsilon=1.0))


def test_another_model_s_parameters_are_refused() -> None:
    optimiser = torch.optim.SGD(nn.Linear(4, 2).parameters(), lr=0.1)
    budget = ledger().budget(epsilon=1.0, delta=1e-5)
    with pytest.raises(InvalidArgument, match="not the model's"):
        privatise(nn.Linear(4, 2), optimiser, halves(), budget=budget, epochs=1, batch_size=64, clip=1.0)


def test_a_batch_norm_put_back_into_training_is_refused() -> None:
    model = nn.Sequential(nn.BatchNorm1d(4, affine=False).eval(), nn.Linear(4, 2))
    training = started(model)
    model.train()
    with pytest.raises(NotPrivate, match="BatchNorm1d"):
        training.step(next(iter(training)))


@pytest.mark.parametrize("clip", [1.0, AdaptiveClip(start=1.0)])
def test_rule_2_a_record_at_which_the_loss_fails_counts_as_zero(clip: Any) -> None:
    """The noise of a step is the same with and without the record; the sums differ in nothing."""
    inputs, targets = halves()
    torch.manual_seed(1)
    models, strange = [nn.Linear(4, 2)], targets.clone()
    models.append(copy.deepcopy(models[0]))
    strange[5] = 77  # no such class
    missing = inputs.clone()
    missing[5] = torch.nan  # what is not finite counts as zero, too
    for model, data in zip(models, [(inputs, strange), (missing, targets)], strict=True):
        training = started(model, clip=clip, data=data, loss=nn.CrossEntropyLoss(reduction="none"))
        for batch in training:
            training.step(batch)
    assert torch.allclose(models[0].weight, models[1].weight, atol=1e-6)


def test_a_training_that_diverges_is_said() -> None:
    training = started(nn.Linear(4, 2), learning_rate=3e38, clip=1000.0)
    with pytest.raises(InvalidArgument, match="diverged"):
        for batch in training:
            training.step(batch)


def test_training_without_privacy_is_asked_for_by_name_and_says_so() -> None:
    torch.manual_seed(1)
    model, (inputs, targets) = nn.Linear(4, 2), halves(2048)
    run = train(
        model,
        (inputs, targets),
        budget=bruit.WITHOUT_PRIVACY,
        epochs=4,
        batch_size=256,
        clip=1.0,
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=2.0),
        rng=np.random.default_rng(2),
    )
    assert (model(inputs).argmax(1) == targets).float().mean() > 0.97
    assert run.guarantee.epsilon == float("inf")
    assert "without privacy" in str(run.guarantee)
    assert (run.details["noise"], run.method) == (0.0, "SGD without privacy")


def test_the_gradient_without_privacy_is_the_plain_one() -> None:
    model, (inputs, targets) = nn.Linear(4, 2).double(), halves()
    training = started(model, learning_rate=0.0, data=(inputs.double(), targets), budget=bruit.WITHOUT_PRIVACY)
    batch = next(iter(training))
    training.step(batch)
    chosen = torch.from_numpy(batch.places)
    loss = nn.functional.cross_entropy(model(inputs.double()[chosen]), targets[chosen], reduction="sum") / 64
    for found, parameter in zip(torch.autograd.grad(loss, list(model.parameters())), model.parameters(), strict=True):
        assert parameter.grad is not None
        torch.testing.assert_close(parameter.grad, found, rtol=1e-12, atol=1e-12)


def test_no_privacy_is_never_taken_for_granted() -> None:
    with pytest.raises(BudgetMissing, match=r"or budget=bruit\.WITHOUT_PRIVACY"):
        started(nn.Linear(4, 2), budget=None)


def test_a_compiled_training_gives_the_same_model_and_never_cuts_a_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bruit.deep.compiled.graphs.torch.compile", lambda graph, **_: graph)
    models = []
    for compiled, at_once in ((False, None), (True, None), (True, 40)):
        torch.manual_seed(2)
        models.append(nn.Linear(4, 2).double())
        inputs, targets = halves()
        training = started(models[-1], data=(inputs.double(), targets), compiled=compiled, at_once=at_once)
        assert training.at_once == (256 if not compiled else at_once or 96)
        for batch in training:
            training.step(batch)
        assert training.release().details["compiled"] is compiled
    for other in models[1:]:
        torch.testing.assert_close(other.weight, models[0].weight, rtol=1e-12, atol=1e-12)


def test_a_batch_larger_than_memory_is_said() -> None:
    training = started(nn.Linear(4, 2))

    def full(*_: object) -> dict[str, Tensor]:
        raise torch.OutOfMemoryError("no room")

    object.__setattr__(training.engine, "clipped_sum", full)
    with pytest.raises(InvalidArgument, match="give at_once= a smaller number"):
        training.step(next(iter(training)))


def test_a_loss_that_is_no_number_stops_nobody_and_counts_as_zero() -> None:
    model = nn.Linear(4, 2)
    training = started(model, loss=lambda outputs, targets: outputs.sum(1) * torch.nan)
    training.step(next(iter(training)))
    assert all(bool(p.isfinite().all()) for p in model.parameters())


def test_the_bar_shows_the_steps_and_what_they_cost(capsys: pytest.CaptureFixture[str]) -> None:
    book = ledger()
    train(
        nn.Linear(4, 2),
        halves(),
        budget=book.budget(epsilon=4.0, delta=1e-5),
        epochs=2,
        batch_size=64,
        clip=1.0,
        show_progress=True,
    )
    lines = capsys.readouterr().err.strip().split("\r")
    spent = [float(line.split("ε ")[1].split(" of ")[0]) for line in lines if "ε" in line]
    assert spent == sorted(spent)
    steps = lines[-1].split("step ")[1].split()[0]
    assert steps.split("/")[0] == steps.split("/")[1]
    assert spent[-1] <= 4


class OverBuffer(nn.Module):
    """Divides by a buffer, which the backward pass then needs as it was."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(4, 4), nn.Linear(4, 2)
        self.scale: torch.Tensor
        self.register_buffer("scale", torch.full((4,), 2.0))

    def forward(self, values: torch.Tensor) -> torch.Tensor:
        scores: torch.Tensor = self.last(self.first(values) / self.scale)
        return scores


def test_a_model_that_divides_by_a_buffer_trains() -> None:
    run = bruit.deep.train(
        OverBuffer(), halves(), budget=ledger().budget(epsilon=2, delta=1e-5), epochs=1, batch_size=64, clip=1.0
    )
    assert run.details["steps"] == 4
