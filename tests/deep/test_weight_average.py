"""Averages of weights: their recursion, and a release that costs what one without them does."""

import numpy as np
import pytest
import torch
from deep.books import halves, ledger
from torch import nn

from bruit.deep import WeightAverage, train
from bruit.errors import InvalidArgument

torch.set_num_threads(1)
SETTINGS = {"epochs": 3, "batch_size": 64, "clip": 1.0}


def iterates(*, average: float | None) -> tuple[list[np.ndarray], np.ndarray, object]:
    """The weights after every step, the released ones and the guarantee, from one seed."""
    torch.manual_seed(1)
    model, seen = nn.Linear(4, 2), list[np.ndarray]()
    seen.append(model.weight.detach().numpy().copy())
    run = train(
        model,
        halves(),
        budget=ledger().budget(epsilon=8.0, delta=1e-5),
        average=average,
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=0.5),
        on_progress=lambda _done, _steps: seen.append(model.weight.detach().numpy().copy()),
        rng=np.random.default_rng(3),
        **SETTINGS,  # type: ignore[arg-type]
    )
    return seen, model.weight.detach().numpy(), run.guarantee


def test_the_release_is_the_recursion_over_all_iterates_at_the_same_price() -> None:
    seen, released, guarantee = iterates(average=0.9)
    plain, last, expected_guarantee = iterates(average=None)
    assert guarantee == expected_guarantee
    np.testing.assert_array_equal(seen, plain)
    np.testing.assert_array_equal(plain[-1], last)
    average = seen[0]
    for step, weights in enumerate(seen[1:], start=1):
        decay = min(0.9, (1 + step) / (10 + step))
        average = decay * average + (1 - decay) * weights
    np.testing.assert_allclose(released, average, rtol=1e-5, atol=1e-7)
    assert not np.allclose(released, last)


def test_frozen_weights_are_left_alone() -> None:
    model = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    model[0].requires_grad_(requires_grad=False)
    frozen = model[0].weight.clone()
    averages = WeightAverage(model, decay=0.5)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    averages.update()
    averages.put_into_model()
    torch.testing.assert_close(model[0].weight, frozen + 1)


@pytest.mark.parametrize("decay", [0.0, 1.0, -1.0, float("nan")])
def test_a_decay_outside_its_range_is_refused_before_anything_is_charged(decay: float) -> None:
    book = ledger()
    with pytest.raises(InvalidArgument, match="within"):
        train(
            nn.Linear(4, 2),
            halves(),
            budget=book.budget(epsilon=1.0, delta=1e-5),
            average=decay,
            **SETTINGS,  # type: ignore[arg-type]
        )
    assert not book.entries
