"""The clipped sum of per-sample gradients from one forward and one backward pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.func import functional_call

from bruit.deep.checks.isolation import Isolation
from bruit.deep.checks.model_structure import Structure, require_rows
from bruit.deep.checks.sample_independence import WATCHED, require_separate
from bruit.deep.checks.value_reads import Calls, Strayed
from bruit.deep.compiled.device_flags import DeviceFlag, device_flag, tell
from bruit.deep.compiled.graphs import Graphs, Trace
from bruit.deep.gpu_kernels import choice
from bruit.deep.per_sample.clipping import MARGINS, TENSOR_CORES, Clipping, factors
from bruit.deep.per_sample.factored_gradients import PerSampleGradients
from bruit.deep.per_sample.image_layout import Layouts, images_last
from bruit.deep.per_sample.layer_hooks import Call, backward, record_calls
from bruit.deep.per_sample.norm_groups import MeasuredGradients, group_parameters, merge, sum_groups
from bruit.deep.per_sample.precision import in_precision
from bruit.deep.per_sample.rules import compiled_instead_of, instead_of, rule_of
from bruit.deep.per_sample.rules.embedding import only_known_rows
from bruit.deep.per_sample.rules.recurrent import not_packed
from bruit.deep.per_sample.rules.square_convolution import is_square
from bruit.deep.per_sample.several_rows import mean_of_rows, unit_gradients
from bruit.deep.per_sample.vmap_fallback import Loss, takes_vmap, whole_model_gradients
from bruit.deep.training.dataset import Part
from bruit.errors import InvalidArgument


@dataclass(frozen=True)
class Engine:
    """Clips the gradient of each sample of a model and adds them up.

    `precision` is the type in which layers compute (torch.autocast), None for the model's own. With `compiled` the
    whole computation is traced once for every shape of batch and compiled. A sample whose gradient is not finite counts
    as zero: what happens to a record must not show.                                       [docs/rules.md 2]
    """

    model: nn.Module
    structure: Structure
    loss: Loss
    bound: float
    how: Clipping = Clipping.FLAT
    precision: torch.dtype | None = None
    compiled: bool = False
    graphs: Graphs = field(default_factory=Graphs, repr=False, compare=False)
    layouts: Layouts = field(default_factory=Layouts, repr=False, compare=False)
    isolation: Isolation | None = field(default=None, repr=False, compare=False)
    """What decides whether samples may be computed together; without it they are."""
    loops: bool = True
    """Whether samples may come one after the other, in which one may leave something outside the model for the next."""

    def clipped_sum(
        self, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor, unclipped: list[Tensor] | None = None
    ) -> dict[str, Tensor]:
        """Σ_b weight_b · clip(g_b) for every trainable parameter; a weight is 1, or 0 for padding.

        Where there are several rows to a weight, g_b is the mean of theirs: the views of a record, or a person's
        records, which lie side by side. To `unclipped` is added how many norms were below the bound.
        """
        with in_precision(targets.device):
            compiled = self.compiled and unclipped is None and not self.computes_alone(inputs, targets)
            found = self.graphs.sums(self, inputs, targets, weights) if compiled else None
            return self._sums(inputs, targets, weights, None, unclipped) if found is None else found

    def computes_alone(self, inputs: tuple[Tensor, ...], targets: Tensor) -> bool:
        """Whether samples are computed one at a time, since nothing shows that a joint pass keeps them separate."""
        return self.isolation is not None and not self.isolation.holds(inputs, targets)

    @property
    def assumes_apart(self) -> bool:
        """Whether a joint pass rests on a user's word: no proof shows that it writes into no weight."""
        return self.isolation is not None and self.isolation.assumed

    def is_isolated(self, example: Part) -> bool:
        """Whether samples are kept apart without assuming it: proved, or computed under vmap.

        In a loop over samples, what one leaves outside the model the next may meet.
        """
        known, names = self.isolation, tuple(self.structure.names.values())
        if known is None:
            return True
        if known.is_proved(example.inputs, example.targets):
            names = tuple(self.structure.rest)
        elif known.assumed:
            return False
        with in_precision(example.targets.device, self.precision), only_known_rows(self.model), not_packed(self.model):
            return not names or takes_vmap(self.model, names, example.inputs, example.targets, self.loss)

    def sums_in_parts(
        self, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor, parts: int
    ) -> dict[str, Tensor]:
        """The clipped sums computed in several parts of the batch, which need less memory."""
        size, rows = -(-len(weights) // parts), len(targets) // len(weights)
        total: dict[str, Tensor] = {}
        for begin in range(0, len(weights), size):
            some, own = slice(begin * rows, (begin + size) * rows), slice(begin, begin + size)
            for name, part in self.sums(tuple(each[some] for each in inputs), targets[some], weights[own]).items():
                total[name] = total[name].add_(part) if name in total else part.clone()
        return total

    def sums(
        self, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor, trace: Trace | None = None
    ) -> dict[str, Tensor]:
        """The clipped sums; a traced graph, unable to branch, writes whether all norms were finite to a device flag."""
        with in_precision(targets.device):
            return self._sums(inputs, targets, weights, trace)

    def _sums(
        self,
        inputs: tuple[Tensor, ...],
        targets: Tensor,
        weights: Tensor,
        trace: Trace | None,
        unclipped: list[Tensor] | None = None,
    ) -> dict[str, Tensor]:
        entries = self._measure(inputs, targets, trace, rows=len(targets) // len(weights))
        if not entries:  # nothing that is trained moves the loss
            return {}
        groups = group_parameters(entries, apart=self.how is Clipping.PER_LAYER)
        squares = torch.stack([group.squares for group in groups])
        finite = squares.isfinite().all(0)
        if unclipped is not None:
            unclipped.append(((squares.sum(0) <= self.inner_bound() ** 2) & (weights > 0)).sum())
        layers = [self.structure.layer_of(group.names[0]) for group in groups]
        each = torch.where(finite, factors(squares, layers, bound=self.inner_bound(), how=self.how), 0) * weights
        if (trace is not None or squares.is_cuda) and all(group.gradients.light for group in groups):
            return sum_groups(groups, each, dropped=~finite)
        if trace is not None:  # so it is told before the sums
            return sum_groups(groups, torch.where(tell(finite.all(), trace.flag.number), each, 0))
        answer = self._flag_reader(finite.all())
        found = sum_groups(groups, each)
        if answer():
            return found
        del found  # a record that is not finite must not decide what fits into memory
        return sum_groups(groups, each, dropped=~finite)

    def _flag_reader(self, flag: Tensor) -> Callable[[], bool]:
        """A function that reads a flag later, so that a GPU is given the sums before anyone waits."""
        if not flag.is_cuda:
            return lambda: bool(flag)
        self._device_flag.open()
        tell(flag, self._device_flag.number)
        return self._device_flag.answer

    @cached_property
    def _device_flag(self) -> DeviceFlag:
        return device_flag(next(self.model.parameters()).device)

    def per_sample_gradients(self, inputs: tuple[Tensor, ...], targets: Tensor) -> dict[str, PerSampleGradients]:
        """The per-sample gradients of every trainable parameter, by the parameter's name."""
        return {name: entry.gradients for name, entry in self._measure(inputs, targets, None).items()}

    def require_separate(self, parts: tuple[Tensor, ...]) -> None:
        """Refuses a model where one sample's loss or gradient depends on others; `parts` are inputs and targets."""

        def losses(batch: list[Tensor]) -> list[Tensor]:
            *inputs, targets = batch
            with torch.enable_grad(), in_precision(targets.device, self.precision):
                return [self.loss(self.model(*inputs), targets)[WATCHED]]

        def gradients(batch: list[Tensor]) -> list[Tensor]:
            *inputs, targets = batch
            only = torch.arange(len(targets), device=targets.device) == WATCHED
            return list(self.sums(tuple(inputs), targets, only.float()).values())

        require_separate(self.model, losses, parts, "the loss")
        require_separate(self.model, gradients, parts, "the gradient")

    def reads_images(self, targets: Tensor) -> bool:
        """Whether the Triton convolution kernels will be used, which read images in channels-last layout."""
        short = targets.is_cuda and self.precision == torch.bfloat16 and choice.has_triton()
        return short and any(isinstance(each, nn.Conv2d) and is_square(each) for each in self.structure.ruled.values())

    def _measure(
        self, inputs: tuple[Tensor, ...], targets: Tensor, trace: Trace | None, *, rows: int = 1
    ) -> dict[str, MeasuredGradients]:
        found: dict[str, list[MeasuredGradients]] = {}
        alone = trace is None and self.computes_alone(inputs, targets)
        if self.structure.ruled and not alone:
            alone = not self._passes_as_proved(inputs, targets, trace, found, rows)
        rest = tuple(self.structure.names.values()) if alone else self.structure.rest
        if rest:
            with only_known_rows(self.model), not_packed(self.model), in_precision(targets.device, self.precision):
                given = (self.model, rest, inputs, targets, self.loss, None if trace is None else trace.state)
                gradients = whole_model_gradients(*given, loops=self.loops)
            found |= {name: [MeasuredGradients(mean_of_rows(each, rows))] for name, each in gradients.items()}
        return {name: merge(parts) for name, parts in found.items()}

    def _passes_as_proved(
        self,
        inputs: tuple[Tensor, ...],
        targets: Tensor,
        trace: Trace | None,
        found: dict[str, list[MeasuredGradients]],
        rows: int,
    ) -> bool:
        """Measures all layer calls in one pass; whether it did what was proved, and nothing is found where it did not.

        What is cached since the proof is proved anew, once.
        """
        known = self.isolation if trace is None else None  # a traced graph does the same for good
        for again in (False, True):
            if again and (known is None or not known.renew(inputs, targets)):
                break
            # Before the hooks below, which would be another mode of the model's.
            noted = nullcontext() if known is None else known.watch(inputs, targets)
            last = self.layouts.is_last(self.model, inputs) if trace is None else trace.channels_last
            try:
                with (
                    only_known_rows(self.model),
                    not_packed(self.model),
                    images_last(self.model) if last else nullcontext(),
                ):
                    self._record_layer_calls(inputs, targets, trace, noted, found, rows)
            except Strayed:
                found.clear()
            else:
                return True
        return False

    def _record_layer_calls(
        self,
        inputs: tuple[Tensor, ...],
        targets: Tensor,
        trace: Trace | None,
        noted: AbstractContextManager[object],
        found: dict[str, list[MeasuredGradients]],
        rows: int,
    ) -> None:
        """One forward and one backward pass, in which each layer call's ghost norm is measured at once."""
        anchor = torch.zeros((), device=targets.device, requires_grad=True)
        state = None if trace is None else trace.state
        with torch.enable_grad(), in_precision(targets.device, self.precision):
            instead = instead_of if state is None else compiled_instead_of
            with record_calls(self.structure.ruled, anchor, instead=instead) as calls, noted:
                outputs = self.model(*inputs) if state is None else functional_call(self.model, dict(state), inputs)
            with noted:
                losses = self.loss(outputs, targets)
        require_one_each(losses, len(targets))
        uses = Counter(name for call in calls for name in self._names(call).values())
        for call in calls:
            call.on_gradient = lambda call: self._enter(call, len(targets), uses, found, rows)
        if losses.requires_grad:
            total = losses.sum() / rows
            with noted:
                backward(total, anchor)
        if isinstance(noted, Calls) and not noted.is_whole():
            raise Strayed
        for call in calls:
            call.on_gradient = None  # the graph holds the call and the call the engine: both would stay in memory

    def _names(self, call: Call) -> dict[str, str]:
        """The names in the model of the parameters that a call used and that its rule serves."""
        names = {own: self.structure.names.get(id(getattr(call.layer, own))) for own in call.owns}
        return {own: name for own, name in names.items() if name is not None and name not in self.structure.rest}

    def _enter(
        self, call: Call, batch: int, uses: Mapping[str, int], found: dict[str, list[MeasuredGradients]], rows: int
    ) -> None:
        """The per-sample gradients of one layer call, under the names of the model's parameters."""
        assert call.outputs is not None
        require_rows(call, batch)
        rule, names = call.rule or rule_of(call.layer), self._names(call)
        assert rule is not None
        for own, gradients in unit_gradients(rule, call.layer, call.inputs, call.outputs, rows).items():
            if own in names:
                name = names[own]
                entry = MeasuredGradients(gradients)
                if uses[name] == 1:
                    entry.measure()
                found.setdefault(name, []).append(entry)
        del call.inputs, call.outputs  # what the gradients do not hold is let go

    def inner_bound(self) -> float:
        """The clipping bound less the rounding margin of the least precise arithmetic in use."""
        used = {p.dtype for p in self.model.parameters() if p.requires_grad} | {self.precision or torch.float64}
        margin = max(MARGINS[kind] for kind in used)
        if any(p.is_cuda for p in self.model.parameters()) and margin < TENSOR_CORES and _short_products():
            margin = TENSOR_CORES
        return self.bound / (1 + margin)


def require_one_each(losses: Tensor, batch: int) -> None:
    """Refuses a loss that does not give one number for each sample."""
    if losses.shape != (batch,):
        raise InvalidArgument(
            f"the loss gave a shape of {tuple(losses.shape)} for {batch} samples: one number for each is needed, such "
            "as bruit.deep.cross_entropy gives, or a loss of your own that is not averaged (reduction='none')"
        )


def _short_products() -> bool:
    return torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32
