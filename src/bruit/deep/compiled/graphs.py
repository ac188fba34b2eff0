"""The computation of clipped sums as one graph: traced from the eager one, then compiled."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor, fx, nn
from torch.func import functionalize
from torch.fx.experimental.proxy_tensor import make_fx
from torch.utils._pytree import tree_flatten, tree_map, tree_unflatten

from bruit.deep.checks.sample_independence import equal_draws, layer_modes
from bruit.deep.compiled.cuda_graphs import Recording, Run
from bruit.deep.compiled.device_flags import DeviceFlag, device_flag
from bruit.deep.compiled.kept_sums import keep_sums
from bruit.errors import BruitError

if TYPE_CHECKING:
    from bruit.deep.per_sample.ghost_clipping import Engine

State = Mapping[str, Tensor]
"""Parameters and buffers by their names."""

Given = tuple[State, tuple[Tensor, ...], Tensor, Tensor]
"""State, inputs, targets and weights."""


PARTS = 8
"""The number of parts in which a batch with a non-finite gradient is computed again, without the graph."""

RECORDINGS = 4
"""How often parameters may move in memory before a step is no longer recorded anew."""


@dataclass(frozen=True)
class Trace:
    """Parameters and buffers that stand in for the model's own while tracing, and the flag for finite gradients."""

    state: State
    flag: DeviceFlag
    channels_last: bool = False


class NotCompiled(UserWarning):
    """Warns that a step cannot be compiled and runs eagerly."""


class Graphs:
    """The compiled graphs of one clipping engine, one for each batch shape."""

    def __init__(self) -> None:
        self._made: dict[Any, CompiledStep | None] = {}
        self.trouble: str | None = None
        """Why the last graph could not be compiled."""

    @property
    def steps(self) -> list[CompiledStep]:
        """The compiled steps of all batch shapes that could be compiled."""
        return [step for step in self._made.values() if step is not None]

    def sums(
        self, engine: Engine, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor
    ) -> dict[str, Tensor] | None:
        """The clipped gradient sums by the compiled graph of this batch shape, or None where it could not be compiled.

        Where a gradient is not finite, they are computed as written, in parts, since the graph keeps its memory.
        """
        given = (state_of(engine.model), inputs, targets, weights)
        shapes = ((each.shape, each.dtype, each.stride()) for each in (*inputs, targets, weights))
        key = (layer_modes(engine.model), engine.inner_bound(), torch.get_float32_matmul_precision(), *shapes)
        if key not in self._made:
            self._made[key] = self._compile(engine, given)
        graph = self._made[key]
        if graph is None:
            return None
        found = graph(*given)
        return engine.sums_in_parts(inputs, targets, weights, PARTS) if found is None else found

    def _compile(self, engine: Engine, given: Given) -> CompiledStep | None:
        """A compiled step that was tried on zeros: a compiler that is missing is told at the first call.

        A record at which the step fails must not decide whether it is compiled.           [docs/rules.md 2]
        """
        try:
            graph = CompiledStep(engine, given)
            state, inputs, targets, weights = given
            with equal_draws(targets.device):
                graph(state, *(tree_map(torch.zeros_like, each) for each in (inputs, targets, weights)))
        except BruitError:
            raise
        except Exception as error:
            self.trouble = type(error).__name__
            warnings.warn(
                f"the step could not be compiled and runs as it is written, with the same result ({self.trouble})",
                NotCompiled,
                stacklevel=2,
            )
            return None
        return graph


class CompiledStep:
    """The compiled computation of clipped sums for one batch shape; on a GPU its second call records a CUDA graph."""

    def __init__(self, engine: Engine, given: Given) -> None:
        self._graph = best_traced(engine, given)
        self._run: Run = torch.compile(self._graph.module, dynamic=False)
        self._fixed = len(given[0])
        self._is_warm = False
        devices = {leaf.device for leaf in tree_flatten(given)[0]}
        self._recordings_left = RECORDINGS if len(devices) == 1 and given[2].is_cuda else 0
        self._recording: Recording | None = None
        self.trouble: str | None = None
        """Why it could not be recorded."""

    @property
    def is_recorded(self) -> bool:
        """Whether the step is replayed as a CUDA graph."""
        return self._recording is not None

    @torch.no_grad()
    def __call__(
        self, state: State, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor
    ) -> dict[str, Tensor] | None:
        """The clipped sums by parameter name, or None where a gradient is not finite."""
        leaves = tree_flatten((state, inputs, targets, weights))[0]
        if self._graph.tells:
            self._graph.flag.open()
        return self._graph.together(self._results(leaves))

    def _results(self, leaves: list[Tensor]) -> list[Tensor]:
        if self._recording is not None and not self._recording.fits(leaves):
            self._recording = None  # its memory goes before another takes the place
        if self._recording is None and self._is_warm and self._recordings_left:
            self._recording = self._record(leaves)
        self._is_warm = True
        return self._run(*leaves) if self._recording is None else self._recording(*leaves)

    def _record(self, leaves: list[Tensor]) -> Recording | None:
        self._recordings_left -= 1
        try:
            return Recording(self._run, leaves, self._fixed)
        except RuntimeError as error:  # a model whose kernels wait for values
            self._recordings_left, self.trouble = 0, type(error).__name__
            return None


@dataclass(frozen=True)
class Graph:
    """A traced computation with flat argument and result lists, and the names of its results."""

    module: fx.GraphModule
    names: tuple[str, ...]
    flag: DeviceFlag
    tells: bool

    def together(self, results: list[Tensor]) -> dict[str, Tensor] | None:
        """The sums by parameter name, or None where the graph's flag says that a norm was not finite."""
        if self.tells and not self.flag.answer():
            return None
        return dict(zip(self.names, results, strict=True))


def best_traced(engine: Engine, given: Given) -> Graph:
    """The traced graph, in channels-last layout where kernels read images and tracing in that layout succeeds."""
    if engine.reads_images(given[2]):
        try:
            return trace(engine, given, channels_last=True)
        except RuntimeError:  # a view over all channels, for instance
            pass
    return trace(engine, given)


def trace(engine: Engine, given: Given, *, channels_last: bool = False) -> Graph:
    """The eager computation of clipped sums, traced as a graph with flat arguments."""
    leaves, shape = tree_flatten(given)
    names: list[str] = []
    flag = device_flag(given[2].device)

    def flat(*values: Tensor) -> list[Tensor]:
        state, inputs, targets, weights = tree_unflatten(list(values), shape)
        sums = engine.sums(inputs, targets, weights, Trace(state, flag, channels_last))
        names[:] = sums
        return [*sums.values()]

    leaves = [leaf.detach() for leaf in leaves]
    graph = make_fx(flat, tracing_mode="fake")(*leaves)
    graph = make_fx(functionalize(graph), tracing_mode="fake")(*leaves)  # in-place changes must not be shared
    _share(graph.graph)
    graph.graph.eliminate_dead_code()
    keep_sums(graph.graph)
    graph.recompile()
    tells = any(node.target is torch.ops.bruit.tell.default for node in graph.graph.nodes)
    return Graph(graph, tuple(names), flag, tells)


def state_of(model: nn.Module) -> dict[str, Tensor]:
    """All parameters and buffers of a model by name, detached."""
    named = (*model.named_parameters(), *model.named_buffers())
    return {name: value.detach() for name, value in named}


def _share(graph: fx.Graph) -> None:
    """Merges equal nodes of a graph (common subexpressions), above all casts of layer inputs."""
    seen: dict[Any, fx.Node] = {}
    for node in list(graph.nodes):
        if node.op != "call_function" or not _is_pure(node.target):
            continue
        key = (node.target, _frozen(node.args), _frozen(node.kwargs))
        first = seen.setdefault(key, node)
        if first is not node:
            node.replace_all_uses_with(first)
            graph.erase_node(node)


def _is_pure(target: Any) -> bool:
    if not isinstance(target, torch._ops.OpOverload):
        return False
    return not target._schema.is_mutable and torch.Tag.nondeterministic_seeded not in target.tags


def _frozen(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return (type(value).__name__, *map(_frozen, value))
    if isinstance(value, dict):
        return tuple((name, _frozen(each)) for name, each in sorted(value.items()))
    return (type(value).__name__, value)
