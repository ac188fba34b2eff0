"""The clipped sum of per-sample gradients from one forward and one backward pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property

import torch
from torch import Tensor, nn
from torch.func import functional_call

from bruit.deep.arithmetic import in_precision
from bruit.deep.clipping import MARGINS, TENSOR_CORES, Clipping, factors
from bruit.deep.examination import Structure, require_rows
from bruit.deep.fallback import Loss, whole_model_shares
from bruit.deep.graphs import Graphs, State, Trace
from bruit.deep.kernels import choice
from bruit.deep.parcels import Entry, added, parcelled, together
from bruit.deep.rules import compiled_instead_of, instead_of, rule_of
from bruit.deep.rules.embedding import only_known_rows
from bruit.deep.rules.recurrent import not_packed
from bruit.deep.rules.square_convolution import images_last, is_square
from bruit.deep.separation import WATCHED, require_separate
from bruit.deep.shares import Share
from bruit.deep.tickets import Ticket, tell, ticket
from bruit.deep.watching import Call, watched
from bruit.errors import InvalidArgument


@dataclass(frozen=True)
class Engine:
    """Clips the gradient of each sample of a model and adds them up.

    `precision` is the type in which layers compute (torch.autocast), None for the model's own. With `compiled` the
    whole computation is traced once for every shape of batch and compiled. A sample whose gradient is not finite counts
    as zero: what happens to a record must not show.                                       [DESIGN, privacy rule 2]
    """

    model: nn.Module
    structure: Structure
    loss: Loss
    bound: float
    how: Clipping = Clipping.FLAT
    precision: torch.dtype | None = None
    compiled: bool = False
    graphs: Graphs = field(default_factory=Graphs, repr=False, compare=False)

    def clipped_sum(self, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor) -> dict[str, Tensor]:
        """Σ_b weight_b · clip(g_b) for every trainable parameter; a weight is 1, or 0 for padding."""
        with in_precision(targets.device):
            found = self.graphs.sums(self, inputs, targets, weights) if self.compiled else None
        return self.sums(inputs, targets, weights) if found is None else found

    def sums_in_parts(
        self, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor, parts: int
    ) -> dict[str, Tensor]:
        """The same in parts that hold less memory."""
        size = -(-len(targets) // parts)
        total: dict[str, Tensor] = {}
        for begin in range(0, len(targets), size):
            some = slice(begin, begin + size)
            for name, part in self.sums(tuple(each[some] for each in inputs), targets[some], weights[some]).items():
                total[name] = total[name].add_(part) if name in total else part.clone()
        return total

    def sums(
        self, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor, trace: Trace | None = None
    ) -> dict[str, Tensor]:
        """The clipped sums; while a graph is traced, which cannot go two ways, its ticket is told if they are good."""
        with in_precision(targets.device):
            return self._sums(inputs, targets, weights, trace)

    def _sums(
        self, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor, trace: Trace | None
    ) -> dict[str, Tensor]:
        entries = self._measured(inputs, targets, trace)
        if not entries:  # nothing that is trained moves the loss
            return {}
        parcels = parcelled(entries, apart=self.how is Clipping.PER_LAYER)
        squares = torch.stack([parcel.squares for parcel in parcels])
        finite = squares.isfinite().all(0)
        layers = [self.structure.layer_of(parcel.names[0]) for parcel in parcels]
        each = torch.where(finite, factors(squares, layers, bound=self.inner_bound(), how=self.how), 0) * weights
        if (trace is not None or squares.is_cuda) and all(parcel.share.light for parcel in parcels):
            return added(parcels, each, dropped=~finite)
        if trace is not None:  # so it is told before the sums
            return added(parcels, torch.where(tell(finite.all(), trace.ticket.number), each, 0))
        answer = self._asked(finite.all())
        found = added(parcels, each)
        if answer():
            return found
        del found  # a record that is not finite must not decide what fits into memory
        return added(parcels, each, dropped=~finite)

    def _asked(self, flag: Tensor) -> Callable[[], bool]:
        """Will tell a flag; a GPU is given the sums to compute before it is waited for."""
        if not flag.is_cuda:
            return lambda: bool(flag)
        self._ticket.open()
        tell(flag, self._ticket.number)
        return self._ticket.answer

    @cached_property
    def _ticket(self) -> Ticket:
        return ticket(next(self.model.parameters()).device)

    def shares(self, inputs: tuple[Tensor, ...], targets: Tensor) -> dict[str, Share]:
        """What every sample adds to the gradient of every trainable parameter, by the parameter's name."""
        return {name: entry.share for name, entry in self._measured(inputs, targets, None).items()}

    def require_separate(self, parts: tuple[Tensor, ...]) -> None:
        """Refuses a loss, or a gradient, of one sample that changes with the others; `parts` are inputs and targets."""

        def losses(batch: list[Tensor]) -> list[Tensor]:
            *inputs, targets = batch
            with torch.no_grad(), in_precision(targets.device, self.precision):
                return [self.loss(self.model(*inputs), targets)[WATCHED]]

        def gradients(batch: list[Tensor]) -> list[Tensor]:
            *inputs, targets = batch
            only = torch.arange(len(targets), device=targets.device) == WATCHED
            return list(self.sums(tuple(inputs), targets, only.float()).values())

        require_separate(self.model, losses, parts, "the loss")
        require_separate(self.model, gradients, parts, "the gradient")

    def reads_images(self, targets: Tensor) -> bool:
        """Whether kernels will read images, which they do with channels last."""
        short = targets.is_cuda and self.precision == torch.bfloat16 and choice.has_triton()
        return short and any(isinstance(each, nn.Conv2d) and is_square(each) for each in self.structure.ruled.values())

    def _measured(self, inputs: tuple[Tensor, ...], targets: Tensor, trace: Trace | None) -> dict[str, Entry]:
        found: dict[str, list[Entry]] = {}
        state = None if trace is None else trace.state
        with only_known_rows(self.model), not_packed(self.model):
            if self.structure.ruled:
                with images_last(self.model) if trace is not None and trace.channels_last else nullcontext():
                    self._keep_books(inputs, targets, state, found)
            if self.structure.rest:
                with in_precision(targets.device, self.precision):
                    rest = whole_model_shares(self.model, self.structure.rest, inputs, targets, self.loss, state)
                found |= {name: [Entry(share)] for name, share in rest.items()}
        return {name: together(parts) for name, parts in found.items()}

    def _keep_books(
        self, inputs: tuple[Tensor, ...], targets: Tensor, state: State | None, found: dict[str, list[Entry]]
    ) -> None:
        """One pass forward and one back, during which every call of a layer is measured as soon as it can be."""
        anchor = torch.zeros((), device=targets.device, requires_grad=True)
        with torch.enable_grad(), in_precision(targets.device, self.precision):
            instead = instead_of if state is None else compiled_instead_of
            with watched(self.structure.ruled, anchor, instead=instead) as calls:
                outputs = self.model(*inputs) if state is None else functional_call(self.model, dict(state), inputs)
            losses = self.loss(outputs, targets)
        _require_one_each(losses, len(targets))
        uses = Counter(name for call in calls for name in self._names(call).values())
        for call in calls:
            call.heard = lambda call: self._enter(call, len(targets), uses, found)
        if losses.requires_grad:
            with torch.autograd.set_multithreading_enabled(False):
                torch.autograd.grad(losses.sum(), anchor, allow_unused=True)
        for call in calls:
            call.heard = None  # the graph holds the call and the call the engine's book: both would stay in memory

    def _names(self, call: Call) -> dict[str, str]:
        """The names in the model of the parameters that a call used and that its rule serves."""
        names = {own: self.structure.names.get(id(getattr(call.layer, own))) for own in call.owns}
        return {own: name for own, name in names.items() if name is not None and name not in self.structure.rest}

    def _enter(self, call: Call, batch: int, uses: Mapping[str, int], found: dict[str, list[Entry]]) -> None:
        """The shares of one call of a layer, under the names of the model's parameters."""
        assert call.outputs is not None
        require_rows(call, batch)
        rule, names = call.rule or rule_of(call.layer), self._names(call)
        assert rule is not None
        for own, share in rule(call.layer, call.inputs, call.outputs).items():
            if own in names:
                name = names[own]
                entry = Entry(share)
                if uses[name] == 1:
                    entry.measure()
                found.setdefault(name, []).append(entry)
        del call.inputs, call.outputs  # what the shares do not hold is let go

    def inner_bound(self) -> float:
        """The bound less the room for rounding of the coarsest arithmetic in use."""
        used = {p.dtype for p in self.model.parameters() if p.requires_grad} | {self.precision or torch.float64}
        margin = max(MARGINS[kind] for kind in used)
        if any(p.is_cuda for p in self.model.parameters()) and margin < TENSOR_CORES and _short_products():
            margin = TENSOR_CORES
        return self.bound / (1 + margin)


def _require_one_each(losses: Tensor, batch: int) -> None:
    if losses.shape != (batch,):
        raise InvalidArgument(
            f"the loss gave a shape of {tuple(losses.shape)} for {batch} samples: one number for each is needed, such "
            "as bruit.deep.cross_entropy gives, or a loss of your own that is not averaged (reduction='none')"
        )


def _short_products() -> bool:
    return torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32
