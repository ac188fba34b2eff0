"""The compiled step: the same numbers as the eager one, and a clear word where it cannot be had."""

import shutil
import warnings
from functools import partial

import pytest
import torch
from deep.live_bytes import most_alive
from deep.models import MODELS, AdaptedBlocks, made
from deep.test_engine import by_hand, engine, median_norm, oracle
from torch import Tensor, nn

from bruit.deep import Clipping
from bruit.deep.compiled.graphs import NotCompiled, state_of, trace

torch.set_num_threads(1)


@pytest.mark.parametrize(
    ("case", "channels_last"),
    [(case, False) for case in MODELS if case != "lstm, projected"] + [("conv2d, gram", True), ("in place", True)],
)
def test_the_traced_graph_of_every_rule_gives_the_clipped_sum_of_vmap_grad(case: str, channels_last: bool) -> None:
    model, inputs, targets = made(case)
    gradients = oracle(model, inputs, targets)
    bound = median_norm(gradients)
    given = (state_of(model), (inputs,), targets, torch.ones(5, dtype=torch.float64))
    graph = trace(engine(model, inputs, bound=bound), given, channels_last=channels_last)
    found = graph.together(graph.module(*given[0].values(), inputs, targets, given[3]))
    assert found is not None
    for name, wanted in by_hand(gradients, bound, Clipping.FLAT).items():
        torch.testing.assert_close(found[name], wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(("case", "kept"), [("low-rank adapters", 1), ("linear, gram", 0), ("attention", 0)])
def test_a_sum_of_two_products_that_the_backward_pass_reads_too_is_one_tensor(case: str, kept: int) -> None:
    model, inputs, targets = made(case)
    given = (state_of(model), (inputs,), targets, torch.ones(5, dtype=torch.float64))
    nodes = trace(engine(model, inputs, bound=1.0), given).module.graph.nodes
    sums = [node for node in nodes if node.target is torch.ops.bruit.kept_sum.default]
    assert len(sums) == kept
    assert all(len(node.users) > 1 for node in sums)


def test_a_kept_sum_lets_both_of_its_terms_go() -> None:
    """Without it the two terms of every wide layer with an adapter live until the backward pass reaches it."""
    torch.manual_seed(1)
    model, inputs, targets = AdaptedBlocks(), torch.randn(6, 20, 16), torch.arange(6) % 3
    graph = trace(engine(model, inputs, bound=1.0), (state_of(model), (inputs,), targets, torch.ones(6))).module.graph
    kept = most_alive(graph)
    for node in graph.nodes:
        if node.target is torch.ops.bruit.kept_sum.default:
            node.target = torch.ops.aten.add.Tensor
    assert kept < 0.8 * most_alive(graph)


@pytest.mark.parametrize("how", [Clipping.PER_LAYER])
@pytest.mark.parametrize("case", ["conv2d, gram", "attention"])
def test_the_compiler_takes_the_graph(case: str, how: Clipping, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bruit.deep.compiled.graphs.torch.compile", partial(torch.compile, backend="aot_eager"))
    assert_compiles(*made(case), how)


def test_the_compiled_graph_gives_the_clipped_sum_of_vmap_grad() -> None:
    if shutil.which("g++") is None:
        pytest.skip("torch.compile needs a C++ compiler on a CPU")
    assert_compiles(*made("linear, gram"), Clipping.FLAT)


def assert_compiles(model: nn.Module, inputs: Tensor, targets: Tensor, how: Clipping) -> None:
    gradients = oracle(model, inputs, targets)
    bound = median_norm(gradients)
    clipping = engine(model, inputs, bound=bound, how=how, compiled=True)
    with warnings.catch_warnings():
        warnings.simplefilter("error", NotCompiled)
        found = clipping.clipped_sum((inputs,), targets, torch.ones(5))
    for name, wanted in by_hand(gradients, bound, how).items():
        torch.testing.assert_close(found[name], wanted, rtol=1e-12, atol=1e-12)


def test_rule_2_a_compiled_step_leaves_out_what_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bruit.deep.per_sample.factored_gradients.LIGHT", 0)
    monkeypatch.setattr("bruit.deep.per_sample.rules.convolution.LIGHT", 0)
    monkeypatch.setattr("bruit.deep.compiled.graphs.torch.compile", lambda graph, **_: graph)
    model, inputs, targets = made("conv2d, gram")
    clipping = engine(model, inputs, bound=0.5, compiled=True)
    spoilt = inputs.clone()
    spoilt[2] = torch.nan
    assert clipping.graphs.sums(clipping, (inputs,), targets, torch.ones(5)) is not None
    (step,) = clipping.graphs.steps
    assert step(state_of(model), (spoilt,), targets, torch.ones(5)) is None
    found = clipping.clipped_sum((spoilt,), targets, torch.ones(5))
    wanted = clipping.clipped_sum((inputs,), targets, torch.tensor([1.0, 1, 0, 1, 1]))
    for name in wanted:
        torch.testing.assert_close(found[name], wanted[name], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("precision", [torch.bfloat16, torch.float16])
@pytest.mark.parametrize("case", ["linear, gram", "conv2d", "attention", "group norm", "in place"])
def test_no_sample_adds_more_than_the_bound_in_a_traced_step(case: str, precision: torch.dtype) -> None:
    model, inputs, targets = made(case, dtype=torch.float32)
    given = (state_of(model), (inputs,), targets, torch.ones(5))
    graph = trace(engine(model, inputs, bound=0.01, precision=precision), given)
    for alone in torch.eye(5):
        found = graph.together(graph.module(*given[0].values(), inputs, targets, alone))
        assert found is not None
        norm = torch.cat([g.flatten() for g in found.values()]).double().norm().item()
        assert 0 < norm <= 0.01


def test_a_step_that_cannot_be_compiled_is_said_and_runs() -> None:
    model, inputs, targets = made("lstm, projected")
    clipping = engine(model, inputs, bound=0.5, compiled=True)
    with pytest.warns(NotCompiled, match="runs as it is written"):
        found = clipping.clipped_sum((inputs,), targets, torch.ones(5))
    wanted = engine(model, inputs, bound=0.5).clipped_sum((inputs,), targets, torch.ones(5))
    assert clipping.graphs.trouble is not None
    for name in wanted:
        torch.testing.assert_close(found[name], wanted[name], rtol=1e-12, atol=1e-12)


def test_a_layer_put_into_another_mode_gets_another_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bruit.deep.compiled.graphs.torch.compile", lambda graph, **_: graph)
    model, inputs, targets = (
        nn.Sequential(nn.Linear(4, 6), nn.Dropout(0.9), nn.Linear(6, 3)),
        torch.randn(5, 4),
        torch.arange(5) % 3,
    )
    clipping = engine(model, inputs, bound=9.0, compiled=True)
    clipping.clipped_sum((inputs,), targets, torch.ones(5))
    model.eval()
    found = clipping.clipped_sum((inputs,), targets, torch.ones(5))
    wanted = engine(model, inputs, bound=9.0).clipped_sum((inputs,), targets, torch.ones(5))
    torch.testing.assert_close(found["0.weight"], wanted["0.weight"])


def test_another_precision_of_products_gets_another_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bruit.deep.compiled.graphs.torch.compile", lambda graph, **_: graph)
    model, inputs, targets = made("linear, gram", dtype=torch.float32)
    clipping = engine(model, inputs, bound=0.5, compiled=True)
    before = torch.get_float32_matmul_precision()
    try:
        for precision in ("highest", "medium"):
            torch.set_float32_matmul_precision(precision)
            clipping.clipped_sum((inputs,), targets, torch.ones(5))
    finally:
        torch.set_float32_matmul_precision(before)
    assert len(clipping.graphs.steps) == 2


def test_rule_3_an_autocast_around_a_compiled_step_does_not_reach_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("bruit.deep.compiled.graphs.torch.compile", partial(torch.compile, backend="aot_eager"))
    model, inputs, targets = made("linear, gram", dtype=torch.float32)
    clipping = engine(model, inputs, bound=0.1, compiled=True)
    with torch.autocast("cpu", torch.bfloat16):
        found = clipping.clipped_sum((inputs,), targets, torch.ones(5))
    for name, wanted in engine(model, inputs, bound=0.1).clipped_sum((inputs,), targets, torch.ones(5)).items():
        torch.testing.assert_close(found[name], wanted, rtol=1e-5, atol=1e-7)


class Gated(nn.Conv2d):
    """A convolution of its own kind, with a second argument."""

    def forward(self, image: Tensor, gate: Tensor | None = None) -> Tensor:
        found = super().forward(image)
        return found if gate is None else found * gate


class GatedNetwork(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.plain, self.out = Gated(2, 4, 3), nn.Conv2d(4, 4, 3), nn.Linear(4, 3)

    def forward(self, image: Tensor) -> Tensor:
        return self.out(self.plain(self.conv(image, image.mean((1, 2, 3), keepdim=True))).tanh().mean((2, 3)))


def test_channels_last_keeps_every_argument_of_a_layer() -> None:
    torch.manual_seed(1)
    model, inputs, targets = GatedNetwork().double(), torch.randn(5, 2, 8, 8).double(), torch.arange(5) % 3
    given = (state_of(model), (inputs,), targets, torch.ones(5, dtype=torch.float64))
    clipping = engine(model, inputs, bound=0.5)
    graph = trace(clipping, given, channels_last=True)
    found = graph.together(graph.module(*given[0].values(), inputs, targets, given[3]))
    assert found is not None
    for name, wanted in clipping.clipped_sum((inputs,), targets, given[3]).items():
        torch.testing.assert_close(found[name], wanted, rtol=1e-12, atol=1e-12)
