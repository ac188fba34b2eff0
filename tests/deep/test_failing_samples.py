"""A sample that raises an error counts as zero and moves no other, whatever the model draws, keeps or is shown."""

import random
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep import Views, train
from bruit.deep.per_sample.failing_samples import sum_of_computable, without_views
from bruit.deep.training.dataset import Part, Records
from bruit.deep.training.preparation import Settings, prepare_engine
from bruit.errors import InvalidArgument
from bruit.ledger import Ledger

SIZE, BAD = 12, 5
INPUTS, LABELS = torch.randn(SIZE, 4, generator=torch.Generator().manual_seed(1)), torch.arange(SIZE) % 2
LOSS = nn.CrossEntropyLoss(reduction="none")
"""Fails at a label that is no class."""


class Between(nn.Module):
    """Two linear layers with something between them."""

    def __init__(self) -> None:
        super().__init__()
        self.front, self.out, self.calls = nn.Linear(4, 6), nn.Linear(6, 2), 0

    def between(self, hidden: Tensor) -> Tensor:
        return hidden.tanh()

    def forward(self, values: Tensor) -> Tensor:
        scores: Tensor = self.out(self.between(self.front(values)))
        return scores


class Drops(Between):
    """Draws for each sample by its place."""

    def between(self, hidden: Tensor) -> Tensor:
        return nn.functional.dropout(hidden, 0.5)


class DropsAll(Between):
    """Draws once for the whole batch."""

    def between(self, hidden: Tensor) -> Tensor:
        return hidden.tanh() * (torch.rand(()) < 0.5)


class Counts(Between):
    """Computes something else at every third call."""

    def between(self, hidden: Tensor) -> Tensor:
        self.calls += 1
        return hidden.tanh() * (self.calls % 3)


def two_sums(build: type[Between], inputs: Tensor, labels: Tensor) -> Tensor:
    """The sums of two passes in a row."""
    torch.manual_seed(0)
    model = build()
    engine = prepare_engine(model, Records((INPUTS, LABELS)), LOSS, Settings(1.0))
    torch.manual_seed(3)
    np.random.seed(3)  # noqa: NPY002
    random.seed(3)
    part = Part((inputs,), labels, torch.ones(SIZE))
    passes = [sum_of_computable(engine, part, without_views) for _ in range(2)]
    return torch.stack([torch.cat([found[name].flatten() for name, _ in model.named_parameters()]) for found in passes])


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
@pytest.mark.parametrize("build", [Drops, DropsAll, Counts])
def test_rule_2_others_draw_and_count_as_if_nothing_had_failed(build: type[Between]) -> None:
    strange, missing = LABELS.clone(), INPUTS.clone()
    strange[BAD], missing[BAD] = 77, torch.nan  # what is not finite counts as zero, too
    torch.testing.assert_close(two_sums(build, INPUTS, strange), two_sums(build, missing, LABELS), rtol=0, atol=1e-5)


def fitted(labels: Tensor = LABELS, **settings: Any) -> tuple[Ledger, Any]:
    book = Ledger("failing", epsilon=20, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    torch.manual_seed(0)
    how = {"epochs": 2, "batch_size": 6, "clip": 1.0, "loss": LOSS, "rng": np.random.default_rng(1)}
    try:
        return book, train(Between(), (INPUTS, labels), budget=book.budget(epsilon=9, delta=1e-4), **how | settings)
    except InvalidArgument as error:
        return book, error


def test_rule_13_views_that_fail_are_refused_before_the_charge() -> None:
    book, error = fitted(views=Views(2, lambda record: record[:, 0, 0]))
    assert isinstance(error, InvalidArgument)
    assert not book.entries


def test_rule_2_a_record_that_has_no_view_counts_as_zero() -> None:
    def view(record: Tensor) -> Tensor:
        return record[torch.where(record[0] > 50, 9, torch.arange(4))]  # beyond the end

    inputs = INPUTS.clone()
    inputs[BAD] = 100
    torch.manual_seed(0)
    engine = prepare_engine(Between(), Records((INPUTS, LABELS)), LOSS, Settings(1.0), views=Views(2, view))
    found = [
        sum_of_computable(engine, Part((each[kept],), LABELS[kept], torch.ones(len(kept))), Views(2, view).of)
        for each, kept in ((inputs, torch.arange(SIZE)), (INPUTS, torch.arange(SIZE)[torch.arange(SIZE) != BAD]))
    ]
    for name, total in found[0].items():
        torch.testing.assert_close(total, found[1][name], rtol=1e-4, atol=1e-6)


def test_rule_2_no_record_decides_whether_a_step_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, "compile", lambda module, **_: module)  # the traced graph as it is
    strange = LABELS.clone()
    strange[:] = 77
    told = [fitted(labels, compiled=True, epochs=1)[1].details["compiled"] for labels in (LABELS, strange)]
    assert told == [True, True]


class Fails(Between):
    """Takes eight samples at most."""

    def between(self, hidden: Tensor) -> Tensor:
        if len(hidden) > 8:
            raise ValueError("too many")
        return hidden.tanh()


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
def test_a_model_that_takes_few_samples_at_once_is_computed_alone() -> None:
    strange, few = (two_sums(build, INPUTS, LABELS) for build in (Fails, Between))
    torch.testing.assert_close(strange, few, rtol=1e-4, atol=1e-6)


def test_too_little_memory_is_said_before_the_charge(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(self: Between, hidden: Tensor) -> Tensor:
        if len(hidden) >= 16:
            raise torch.OutOfMemoryError("no room")
        return hidden.tanh()

    monkeypatch.setattr(Between, "between", full)
    book, error = fitted()
    assert "give at_once= a smaller number" in str(error)
    assert not book.entries
