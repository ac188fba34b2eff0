"""The clipped sum, against differentiating every sample by itself."""

from typing import Any

import pytest
import torch
from deep.models import MODELS, each_loss, made
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap
from torch.nn import functional

from bruit.deep import Clipping, Engine, examine
from bruit.deep.per_sample.factored_gradients import Products, StoredGradients
from bruit.deep.per_sample.rules.convolution import Patches

torch.set_num_threads(1)


def oracle(model: nn.Module, inputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
    """Every sample's gradient of every parameter, by vmap(grad), or one by one where vmap has no rule."""
    chosen: dict[str, Any] = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}

    def one(parameters: dict[str, Tensor], sample: Tensor, target: Tensor) -> Tensor:
        return each_loss(functional_call(model, parameters, (sample[None],)), target[None]).sum()

    if not any(isinstance(layer, nn.RNNBase) for layer in model.modules()):
        return vmap(grad(one), in_dims=(None, 0, 0))(chosen, inputs, targets)
    each = [grad(one)(chosen, sample, target) for sample, target in zip(inputs, targets, strict=True)]
    return {name: torch.stack([gradients[name] for gradients in each]) for name in chosen}


def engine(model: nn.Module, inputs: Tensor, *, bound: float, how: Clipping = Clipping.FLAT, **more: Any) -> Engine:
    return Engine(model, examine(model, (inputs,)), each_loss, bound, how, **more)


def median_norm(gradients: dict[str, Tensor]) -> float:
    squares = torch.stack([g.reshape(len(g), -1).square().sum(1) for g in gradients.values()])
    return squares.sum(0).sqrt().median().item()


def by_hand(gradients: dict[str, Tensor], bound: float, how: Clipping) -> dict[str, Tensor]:
    squares = {name: g.reshape(len(g), -1).square().sum(1) for name, g in gradients.items()}
    whole = torch.stack(list(squares.values())).sum(0).sqrt()
    layers = {name.rpartition(".")[0] for name in gradients}
    total = {}
    for name, each in gradients.items():
        if how is Clipping.PER_LAYER:
            own = [s for other, s in squares.items() if other.rpartition(".")[0] == name.rpartition(".")[0]]
            weights = (bound / len(layers) ** 0.5 / torch.stack(own).sum(0).sqrt()).clamp(max=1)
        elif how is Clipping.AUTOMATIC:
            weights = bound / (whole + 0.01)
        else:
            weights = (bound / whole).clamp(max=1)
        total[name] = torch.tensordot(weights, each, 1)
    return total


@pytest.mark.parametrize("near", [1, 150])
@pytest.mark.parametrize("case", ["conv2d", "conv2d, groups", "conv2d, depthwise", "conv1d", "conv3d"])
def test_patches_laid_out_a_few_samples_at_a_time_give_the_same(
    case: str, near: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bruit.deep.per_sample.rules.convolution.NEAR", near)
    model, inputs, targets = made(case)
    wanted = oracle(model, inputs, targets)
    for name, share in engine(model, inputs, bound=1.0).per_sample_gradients((inputs,), targets).items():
        torch.testing.assert_close(share.per_sample().view_as(wanted[name]), wanted[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", MODELS)
def test_every_rule_gives_the_gradients_of_vmap_grad(case: str) -> None:
    model, inputs, targets = made(case)
    wanted = oracle(model, inputs, targets)
    shares = engine(model, inputs, bound=1.0).per_sample_gradients((inputs,), targets)
    assert set(shares) == set(wanted)
    for name, share in shares.items():
        squares = wanted[name].reshape(5, -1).square().sum(1)
        torch.testing.assert_close(share.squares(), squares, rtol=1e-12, atol=1e-14)
        torch.testing.assert_close(share.per_sample().view_as(wanted[name]), wanted[name], rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("case", MODELS)
def test_the_clipped_sum_is_that_of_vmap_grad(case: str) -> None:
    model, inputs, targets = made(case)
    gradients = oracle(model, inputs, targets)
    bound = median_norm(gradients)
    found = engine(model, inputs, bound=bound).clipped_sum((inputs,), targets, torch.ones(5))
    for name, wanted in by_hand(gradients, bound, Clipping.FLAT).items():
        torch.testing.assert_close(found[name], wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", Clipping)
@pytest.mark.parametrize("case", ["linear", "conv2d", "attention", "tied and called twice", "bare, unknown, borrowed"])
def test_every_way_to_clip(case: str, how: Clipping) -> None:
    model, inputs, targets = made(case)
    gradients = oracle(model, inputs, targets)
    bound = median_norm(gradients)
    found = engine(model, inputs, bound=bound, how=how).clipped_sum((inputs,), targets, torch.ones(5))
    for name, wanted in by_hand(gradients, bound, how).items():
        torch.testing.assert_close(found[name], wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("how", Clipping)
@pytest.mark.parametrize("precision", [None, torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", ["linear, gram", "conv2d", "conv2d, gram", "embedding", "attention", "in place"])
def test_no_sample_adds_more_than_the_bound(case: str, precision: torch.dtype | None, how: Clipping) -> None:
    model, inputs, targets = made(case, dtype=torch.float32)
    clipping = engine(model, inputs, bound=0.01, how=how, precision=precision)
    for sample in range(5):
        alone = torch.zeros(5)
        alone[sample] = 1
        found = clipping.clipped_sum((inputs,), targets, alone)
        norm = torch.cat([g.flatten() for g in found.values()]).double().norm().item()
        assert 0 < norm <= 0.01


@pytest.mark.parametrize(
    "case", ["linear", "linear, instantiated", "conv2d", "conv2d, gram", "bare, unknown, borrowed"]
)
def test_rule_2_a_sample_that_is_no_number_counts_as_zero(case: str) -> None:
    model, inputs, targets = made(case)
    clipping = engine(model, inputs, bound=0.5)
    spoilt = inputs.clone()
    spoilt[2] = torch.nan
    spoilt[4] = torch.inf
    found = clipping.clipped_sum((spoilt,), targets, torch.ones(5))
    wanted = clipping.clipped_sum((inputs,), targets, torch.tensor([1.0, 1, 0, 1, 0]))
    for name in wanted:
        torch.testing.assert_close(found[name], wanted[name], rtol=1e-12, atol=1e-12)


def test_the_model_is_left_as_it_was() -> None:
    model, inputs, targets = made("frozen bias in front")
    before = [(name, p.requires_grad, p.clone()) for name, p in model.named_parameters()]
    engine(model, inputs, bound=1.0).clipped_sum((inputs,), targets, torch.ones(5))
    for (name, trained, value), (now, p) in zip(before, model.named_parameters(), strict=True):
        assert (name, trained) == (now, p.requires_grad)
        assert torch.equal(value, p)
        assert p.grad is None
    assert not any(layer._forward_hooks or layer._forward_pre_hooks for layer in model.modules())


@pytest.mark.parametrize("case", [case for case in MODELS if case.endswith(("gram", "instantiated"))])
def test_each_way_to_measure_is_tried(case: str) -> None:
    model, inputs, targets = made(case)
    share = engine(model, inputs, bound=1.0).per_sample_gradients((inputs,), targets)["0.weight"]
    assert isinstance(share, (Products, Patches) if case.endswith("gram") else StoredGradients)


@pytest.mark.parametrize("case", ["linear, gram", "conv2d", "bare, unknown, borrowed"])
def test_rule_3_an_autocast_around_a_step_does_not_reach_it(case: str) -> None:
    model, inputs, targets = made(case, dtype=torch.float32)
    clipping = engine(model, inputs, bound=0.1)
    wanted = clipping.clipped_sum((inputs,), targets, torch.ones(5))
    with torch.autocast("cpu", torch.bfloat16):
        found = clipping.clipped_sum((inputs,), targets, torch.ones(5))
    for name in wanted:
        assert torch.equal(found[name], wanted[name])


class Branching(nn.Module):
    """Uses its second parameter only for small values."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Parameter(torch.randn(4, 3)), nn.Parameter(torch.randn(3))

    def forward(self, values: Tensor) -> Tensor:
        scores = values @ self.first
        return scores + self.second if values.abs().max() < 100 else scores


def test_rule_2_a_sample_that_leaves_a_parameter_unused_raises_nothing() -> None:
    torch.manual_seed(1)
    model, inputs, targets = Branching(), torch.rand(5, 4), torch.arange(5) % 3
    clipping = engine(model, inputs, bound=1.0)
    inputs[3] = 1000.0
    each = clipping.per_sample_gradients((inputs,), targets)["second"].per_sample()
    assert each[3].count_nonzero() == 0
    assert each[:3].count_nonzero() > 0


class Lays(nn.Module):
    """A convolution between poolings; `view` fails where channels lie last in memory, `flatten` does not."""

    def __init__(self, *, views: bool) -> None:
        super().__init__()
        self.first, self.second, self.out = nn.Conv2d(1, 4, 3), nn.Conv2d(4, 6, 2, 2), nn.Linear(24, 3)
        self.views = views

    def forward(self, image: Tensor) -> Tensor:
        maps = self.second(functional.max_pool2d(self.first(image), 2, 1).relu())
        scores: Tensor = self.out(maps.view(len(maps), -1) if self.views else maps.flatten(1))
        return scores


@pytest.mark.parametrize("views", [False, True])
def test_how_images_lie_in_memory_is_the_engines_own_affair(views: bool) -> None:
    torch.manual_seed(4)
    model, images, labels = (
        Lays(views=views).double(),
        torch.randn(5, 1, 7, 7, dtype=torch.float64),
        torch.arange(5) % 3,
    )
    engine = Engine(model, examine(model, (images,)), each_loss, 1e9)
    found = engine.clipped_sum((images,), labels, torch.ones(5, dtype=torch.float64))
    assert engine.layouts.is_last(model, (images,)) is not views
    whole = torch.autograd.grad(each_loss(model(images), labels).sum(), list(model.parameters()))
    for (name, _), each in zip(model.named_parameters(), whole, strict=True):
        torch.testing.assert_close(found[name], each, rtol=1e-9, atol=1e-12)
