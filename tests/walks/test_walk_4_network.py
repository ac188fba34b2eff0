"""Walk 4: a network trained with DP-SGD: the plan says what it will cost, the book pays."""

import pytest

import bruit


def test_the_plan_prices_the_reference_case() -> None:
    planned = bruit.privacy.plan(
        size=60_000, batch_size=64, noise_multiplier=1.0, epochs=15, delta=1e-5, neighbours=bruit.ADD_OR_REMOVE_ONE
    )
    assert float(planned.epsilon) == pytest.approx(0.611, abs=0.002)  # docs/rules.md 3


def test_a_trained_network_is_a_plain_module() -> None:
    train = bruit.deep.train
    import torch

    torch.manual_seed(1)
    inputs = torch.randn(1024, 4)
    data = torch.utils.data.TensorDataset(inputs, (inputs[:, 0] > 0).long())
    model = torch.nn.Linear(4, 2)
    ledger = bruit.Ledger("digits", epsilon=1.0, delta=1e-5, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)

    run = train(model, data, budget=ledger.budget(epsilon=1.0, delta=1e-6), epochs=2, batch_size=256, clip=1.0)

    assert type(run.value) is torch.nn.Linear
    assert run.guarantee.epsilon <= 1
    assert "idealised arithmetic" in run.guarantee.assumes
