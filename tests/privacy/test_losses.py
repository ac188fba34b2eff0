import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.errors import InvalidArgument, NeighboursDiffer
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    LOCAL,
    REPLACE_ONE,
    Approximate,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
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
def test_json_tells_everything(loss):
    assert loss_from_json(json.loads(json.dumps(loss.to_json()))) == loss


def test_json_keeps_the_neighbours_around_a_sample():
    loss = Sampled(Gaussian(1, neighbours=AR), rate=0.5, scheme=Scheme.POISSON, neighbours=REPLACE_ONE)
    again = loss_from_json(loss.to_json())
    assert again == loss
    assert again.neighbours is REPLACE_ONE
    assert again.loss.neighbours is AR


@given(st.lists(st.tuples(st.sampled_from(SINGLE), st.integers(1, 50)), min_size=1, max_size=6))
def test_composition_counts_equal_losses_together(parts):
    whole = composed(parts)
    assert sum(times for _, times in whole.parts()) == sum(times for _, times in parts)
    assert len(whole.counted) == len({loss for loss, _ in parts})


def test_rule_3_losses_of_other_neighbours_do_not_add():
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
    ],
)
def test_what_describes_no_loss_is_refused(make):
    with pytest.raises(InvalidArgument):
        make()
