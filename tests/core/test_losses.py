import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.core import Loss
from bruit.errors import InvalidArgument, NeighboursDiffer
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    LOCAL,
    REPLACE_ONE,
    Approximate,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Parallel,
    Pure,
    Sampled,
    Scheme,
    ZeroConcentrated,
    composed,
    loss_from_json,
    parallel,
)

AR = ADD_OR_REMOVE_ONE
SINGLE = [
    Pure(0.1, neighbours=AR),
    Approximate(1, 1e-6, neighbours=AR),
    ZeroConcentrated("1/3", neighbours=AR),
    Laplace(2, sensitivity=1, neighbours=AR),
    DiscreteLaplace(2, sensitivity=3, neighbours=AR),
    Gaussian(1.5, neighbours=AR),
    DiscreteGaussian(10, squared_sensitivity=4, entries=2, neighbours=AR),
    Sampled(Gaussian(1, neighbours=AR), rate=0.01, scheme=Scheme.POISSON),
    Sampled(Gaussian(1, neighbours=AR), rate=0.01, scheme=Scheme.POISSON, neighbours=AR),
]


@pytest.mark.parametrize("loss", [*SINGLE, SINGLE[0] + SINGLE[5] * 3, parallel(*SINGLE[:3], cells=2)], ids=repr)
def test_json_tells_everything(loss: Loss) -> None:
    assert loss_from_json(json.loads(json.dumps(loss.to_json()))) == loss


def test_json_keeps_the_neighbours_around_a_sample() -> None:
    loss = Sampled(Gaussian(1, neighbours=AR), rate=0.5, scheme=Scheme.POISSON, neighbours=REPLACE_ONE)
    again = loss_from_json(loss.to_json())
    assert again == loss
    assert again.neighbours is REPLACE_ONE
    assert again.loss.neighbours is AR


@given(st.lists(st.tuples(st.sampled_from(SINGLE), st.integers(1, 50)), min_size=1, max_size=6))
def test_composition_counts_equal_losses_together(parts: list[Any]) -> None:
    whole = composed(parts)
    assert sum(times for _, times in whole.parts()) == sum(times for _, times in parts)
    assert len(whole.counted) == len({loss for loss, _ in parts})


def test_rule_3_losses_of_other_neighbours_do_not_add() -> None:
    with pytest.raises(NeighboursDiffer, match="cannot be added"):
        Pure(1, neighbours=AR) + Pure(1, neighbours=REPLACE_ONE)
    with pytest.raises(NeighboursDiffer, match="cannot be added"):
        parallel(Pure(1, neighbours=AR), Pure(1, neighbours=LOCAL))
    with pytest.raises(NeighboursDiffer, match="add-or-remove"):
        Sampled(Pure(1, neighbours=REPLACE_ONE), rate=0.1, scheme=Scheme.POISSON, neighbours=AR)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Pure(-1, neighbours=AR),
        lambda: Pure(1, neighbours="add or remove one"),
        lambda: Approximate(1, 1, neighbours=AR),
        lambda: Gaussian(0, neighbours=AR),
        lambda: DiscreteLaplace(1, sensitivity=0, neighbours=AR),
        lambda: DiscreteLaplace(1, sensitivity=1.5, neighbours=AR),
        lambda: Sampled(Pure(1, neighbours=AR), rate=0, scheme=Scheme.POISSON),
        lambda: Sampled(Pure(1, neighbours=AR), rate=0.1, scheme="poisson"),
        lambda: Pure(1, neighbours=AR) * 0,
        lambda: parallel(),
        lambda: loss_from_json({"kind": "Magic"}),
        lambda: loss_from_json({"kind": "Pure", "neighbours": "nobody", "epsilon": "1"}),
        lambda: loss_from_json({"kind": "Pure", "neighbours": "add or remove one"}),
        lambda: loss_from_json({"kind": "Pure", "neighbours": "add or remove one", "epsilon": "-1"}),
        lambda: Sampled("a loss", rate=0.1, scheme=Scheme.POISSON),
        lambda: composed([("a loss", 1)]),
    ],
)
def test_what_describes_no_loss_is_refused(make: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        make()


ONE = Pure(5, neighbours=AR)
COUNTED = {"kind": "Composed", "neighbours": "add or remove one"}


@pytest.mark.parametrize(
    "make",
    [
        lambda: Composed(AR, ((ONE, -1),)),
        lambda: Composed(AR, ((ONE, 0),)),
        lambda: Composed(AR, ((ONE, True),)),
        lambda: Composed(AR, ((ONE, 1.0),)),
        lambda: Composed(AR, ()),
        lambda: Composed(AR, ((Composed(AR, ((ONE, 1),)), 0),)),
        lambda: Parallel(AR, (ONE,), 0),
        lambda: Parallel(AR, (ONE,), -1),
        lambda: Parallel(AR, (), 1),
        lambda: Parallel(AR, (Parallel(AR, (ONE,), 0),), 1),
        lambda: loss_from_json({**COUNTED, "counted": [[ONE.to_json(), -3]]}),
        lambda: loss_from_json({**COUNTED, "counted": []}),
        lambda: loss_from_json({**COUNTED, "kind": "Parallel", "losses": [ONE.to_json()], "cells": 0}),
    ],
)
def test_rule_no_loss_is_counted_less_than_once(make: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Composed(REPLACE_ONE, ((ONE, 1),)),
        lambda: Parallel(REPLACE_ONE, (ONE,), 1),
        lambda: loss_from_json({**COUNTED, "neighbours": "replace one", "counted": [[ONE.to_json(), 1]]}),
    ],
)
def test_rule_3_a_composition_is_stated_for_the_neighbours_of_its_losses(make: Callable[..., Any]) -> None:
    with pytest.raises(NeighboursDiffer):
        make()


def test_numbers_of_numpy_are_read_as_python_s() -> None:
    loss = Pure(np.float64(0.1), neighbours=AR) * np.int64(3)
    assert loss == Pure("0.1", neighbours=AR) * 3
    assert loss_from_json(json.loads(json.dumps(loss.to_json()))) == loss
