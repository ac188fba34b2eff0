import json
from typing import Any

import pytest

from bruit.errors import InvalidArgument, NotPrivate
from bruit.privacy import (
    ADD_OR_REMOVE_ONE,
    DOCUMENT_ORDERS,
    EACH_ROW,
    REPLACE_ONE,
    Assumption,
    Scheme,
    loss_from_json,
    plan,
    steps_of,
)

CASE: dict[str, Any] = {"size": 60_000, "batch_size": 64, "epochs": 15, "delta": 1e-5}


def cost(by: Any, neighbours: Any = ADD_OR_REMOVE_ONE, **more: Any) -> Any:
    return plan(**CASE, noise_multiplier=1.0, neighbours=neighbours, by=by, **more)


def test_s2_11_steps_are_whole_epochs() -> None:
    assert steps_of(60_000, 64, 15) == 14_070, "not the 14063 of rounding once at the end"


def test_s2_11_the_reference_case() -> None:
    simple = cost("rdp-simple")
    assert simple.steps == 14_070
    assert simple.epsilon == pytest.approx(1.1663, abs=5e-5)
    assert simple.order == 13
    assert cost("rdp").epsilon == pytest.approx(0.8725, abs=5e-5)
    assert cost("rdp", orders=DOCUMENT_ORDERS).epsilon == cost("rdp").epsilon
    assert cost("rdp", orders="fine").epsilon < cost("rdp").epsilon
    assert 0.6111 <= cost("pld").epsilon <= 0.6121


def test_rule_3_replacement_costs_more() -> None:
    assert 1.0252 <= cost("pld", REPLACE_ONE).epsilon <= 1.0262
    assert cost("rdp", REPLACE_ONE).epsilon > cost("pld", REPLACE_ONE).epsilon


def test_s2_15_mnist() -> None:
    found = plan(
        size=60_000,
        batch_size=64,
        epochs=10,
        delta=1e-5,
        noise_multiplier=1,
        neighbours=ADD_OR_REMOVE_ONE,
        by="rdp-simple",
    )
    assert found.steps == 9380
    assert found.epsilon == pytest.approx(1.097, abs=5e-4)


TABLE_1 = [
    (64, 1.0, 150, 8.30), (64, 1.0, 143, 8.08), (64, 1.0, 125, 7.50), (64, 1.1, 120, 6.19), (64, 1.1, 105, 5.76),
    (32, 0.9, 97, 5.38), (64, 1.2, 105, 4.99), (64, 1.2, 102, 4.92), (32, 0.9, 95, 5.32), (32, 0.9, 77, 4.76),
    (64, 1.2, 95, 4.73), (32, 0.9, 60, 4.19), (64, 1.2, 69, 3.99),
]  # fmt: skip


@pytest.mark.parametrize(("batch", "noise", "epochs", "epsilon"), TABLE_1)
def test_s2_16_table_1(batch: int, noise: float, epochs: int, epsilon: float) -> None:
    found = plan(
        size=6552,
        batch_size=batch,
        noise_multiplier=noise,
        epochs=epochs,
        delta=1e-4,
        neighbours=ADD_OR_REMOVE_ONE,
        by="rdp-simple",
    )
    assert round(found.epsilon, 2) == epsilon


@pytest.mark.parametrize("by", ["rdp", "rdp-simple", "pld"])
@pytest.mark.parametrize("neighbours", [ADD_OR_REMOVE_ONE, REPLACE_ONE])
def test_a_target_is_met_within_a_hundredth_and_never_passed(by: Any, neighbours: Any) -> None:
    found = plan(**CASE, target_epsilon=1, neighbours=neighbours, by=by)
    assert 0.99 <= found.epsilon <= 1
    assert plan(**CASE, noise_multiplier=found.noise_multiplier, neighbours=neighbours, by=by).epsilon == found.epsilon


def test_the_noise_of_the_reference_case() -> None:
    assert plan(**CASE, target_epsilon=1, neighbours=ADD_OR_REMOVE_ONE).noise_multiplier == pytest.approx(
        0.797, abs=1e-3
    )
    assert plan(**CASE, target_epsilon=1, neighbours=ADD_OR_REMOVE_ONE, by="rdp").noise_multiplier == pytest.approx(
        0.956, abs=1e-3
    )


def test_other_schemes_are_priced_where_it_is_proved() -> None:
    fixed = cost("pld", REPLACE_ONE, scheme=Scheme.FIXED_SIZE)
    shuffled = cost("pld", REPLACE_ONE, scheme=Scheme.SHUFFLED)
    assert cost("pld", REPLACE_ONE).epsilon < fixed.epsilon < shuffled.epsilon
    for scheme in (Scheme.FIXED_SIZE, Scheme.SHUFFLED):
        with pytest.raises(NotPrivate, match=f"{scheme} sampling for add or remove one"):
            cost("pld", scheme=scheme)


def test_what_the_plan_says_of_itself() -> None:
    found = cost("rdp-simple")
    assert found.rate == pytest.approx(0.00107, abs=5e-6)
    assert found.assumes == (Assumption.IDEALISED_ARITHMETIC, Assumption.PUBLIC_SIZE)
    assert cost("pld", REPLACE_ONE).assumes == (Assumption.IDEALISED_ARITHMETIC,)
    assert found.weak
    assert not plan(**(CASE | {"delta": 1e-6}), noise_multiplier=1, neighbours=ADD_OR_REMOVE_ONE, by="rdp").weak
    told = json.loads(json.dumps(found.to_json()))
    assert told["epsilon"] == found.epsilon
    assert loss_from_json(told["loss"]) == found.loss
    assert float(found.guarantee(EACH_ROW).epsilon) == found.epsilon


@pytest.mark.parametrize(
    ("change", "advice"),
    [
        ({"batch_size": 70_000}, "at most 60000"),
        ({"batch_size": 0}, "at least 1"),
        ({"epochs": 0}, "at least 1"),
        ({"epochs": 1.5}, "whole number"),
        ({"delta": 1 / 60_000}, "such as 1e-6"),
        ({"delta": 0}, "above zero"),
        ({"noise_multiplier": 0}, "above zero"),
        ({"noise_multiplier": -1}, "above zero"),
        ({"noise_multiplier": None}, "one of the two"),
        ({"target_epsilon": 1}, "one of the two"),
        ({"by": "magic"}, "choose one of"),
    ],
)
def test_bad_input_says_what_to_do(change: Any, advice: str) -> None:
    with pytest.raises(InvalidArgument, match=advice):
        plan(**({**CASE, "noise_multiplier": 1.0, "neighbours": ADD_OR_REMOVE_ONE} | change))
