from typing import Any

import numpy as np
import pytest

from bruit.errors import InvalidArgument
from bruit.privacy import ADD_OR_REMOVE_ONE, REPLACE_ONE, Gaussian, curve, delta_curve, order_curve, plan, training_loss

CASE: dict[str, Any] = {
    "size": 60_000,
    "batch_size": 64,
    "noise_multiplier": 1.0,
    "delta": 1e-5,
    "neighbours": ADD_OR_REMOVE_ONE,
}


def test_a_curve_over_epochs_is_made_of_plans() -> None:
    found = curve(**CASE, epochs=[1, 15, 60])
    for row in found.iter_rows(named=True):
        one = plan(**CASE, epochs=row["epochs"])
        assert row["steps"] == one.steps
        assert one.epsilon - 3e-4 <= row["epsilon"] <= one.epsilon + 1e-3


def test_every_parameter_may_vary() -> None:
    found = curve(
        size=[6000, 60_000], batch_size=[32, 64], noise_multiplier=[0.9, 1.1], epochs=[1, 2], delta=[1e-5, 1e-6],
        neighbours=[ADD_OR_REMOVE_ONE, REPLACE_ONE], by=["rdp", "rdp-simple"],
    )  # fmt: skip
    assert found.height == 2**7
    names = ["size", "batch_size", "noise_multiplier", "epochs", "delta", "neighbours", "by"]
    assert found.select(names).n_unique() == found.height
    assert found["epsilon"].min() > 0
    wide = found.pivot("by", index=names[:-1], values="epsilon")
    assert (wide["rdp"] < wide["rdp-simple"]).all()


def test_numpy_ranges_are_welcome_and_empty_ones_are_not() -> None:
    assert curve(**CASE, epochs=np.arange(1, 4), by="rdp").height == 3
    with pytest.raises(InvalidArgument, match="empty"):
        curve(**CASE, epochs=[])


def test_the_order_curve_has_its_least_where_the_plan_found_it() -> None:
    loss = training_loss(size=60_000, batch_size=64, noise_multiplier=1.0, epochs=15, neighbours=ADD_OR_REMOVE_ONE)
    found = order_curve(loss, delta=1e-5)
    assert found["order"][int(found["simple"].arg_min())] == 13
    assert (found["improved"] <= found["simple"]).all()
    with pytest.raises(InvalidArgument, match="above zero"):
        order_curve(loss, delta=0)


def test_the_whole_promise_of_a_loss() -> None:
    found = delta_curve(Gaussian(1, neighbours=ADD_OR_REMOVE_ONE), epsilons=[0, 1, 2, 4])
    assert found["delta"].to_list() == pytest.approx([0.38292492, 0.12693674, 0.02092364, 4.7122e-05], rel=1e-4)
    assert found["delta"].is_sorted(descending=True)
