"""The clipped sum of per-sample gradients from one forward and one backward pass."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.func import functional_call

from bruit.deep.clipping import MARGINS, TENSOR_CORES, Clipping, factors
from bruit.deep.examination import Structure, require_rows
from bruit.deep.fallback import Loss, whole_model_shares
from bruit.deep.graphs import Graphs, State, Trace
from bruit.deep.rules import compiled_instead_of, instead_of, rule_of
from bruit.deep.rules.embedding import only_known_rows
from bruit.deep.separation import WATCHED, require_separate
from bruit.deep.shares import Kept, Share
from bruit.deep.tickets import tell
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
        if self.compiled:
            found = self.graphs.sums(self, inputs, targets, weights)
            if found is not None:
                return found
        return self.sums(inputs, targets, weights)[0]

    def sums(
        self, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor, trace: Trace | None = None
    ) -> tuple[dict[str, Tensor], Tensor | None]:
        """The clipped sums and, while a graph is traced, whether they are good: it cannot go two ways."""
        entries = self._measured(inputs, targets, None if trace is None else trace.state)
        if not entries:  # nothing that is trained moves the loss
            return {}, None
        names, good = list(entries), None
        squares = torch.stack([entries[name].squares for name in names])
        finite = squares.isfinite().all(0)
        each = factors(squares, [self.structure.layer_of(name) for name in names], bound=self._bound(), how=self.how)
        each = torch.where(finite, each, 0) * weights
        shares = {name: entry.share for name, entry in entries.items()}
        if (trace is not None or squares.is_cuda) and all(share.light for share in shares.values()):
            shares = {name: share.without(~finite) for name, share in shares.items()}
        elif trace is not None:
            good = tell(finite.all(), trace.ticket.number)
        elif not bool(finite.all()):
            shares = {name: share.without(~finite) for name, share in shares.items()}
        with torch.no_grad():
            return {name: shares[name].weighted(each[row]) for row, name in enumerate(names)}, good

    def shares(self, inputs: tuple[Tensor, ...], targets: Tensor) -> dict[str, Share]:
        """What every sample adds to the gradient of every trainable parameter, by the parameter's name."""
        return {name: entry.share for name, entry in self._measured(inputs, targets, None).items()}

    def require_separate(self, parts: tuple[Tensor, ...]) -> None:
        """Refuses a loss, or a gradient, of one sample that changes with the others; `parts` are inputs and targets."""

        def losses(batch: list[Tensor]) -> list[Tensor]:
            *inputs, targets = batch
            with torch.no_grad(), self._autocast(targets):
                return [self.loss(self.model(*inputs), targets)[WATCHED]]

        def gradients(batch: list[Tensor]) -> list[Tensor]:
            *inputs, targets = batch
            only = torch.arange(len(targets), device=targets.device) == WATCHED
            return list(self.sums(tuple(inputs), targets, only.float())[0].values())

        require_separate(self.model, losses, parts, "the loss")
        require_separate(self.model, gradients, parts, "the gradient")

    def _measured(self, inputs: tuple[Tensor, ...], targets: Tensor, state: State | None) -> dict[str, _Entry]:
        found: dict[str, list[_Entry]] = {}
        if self.structure.ruled:
            with only_known_rows(self.model):
                self._keep_books(inputs, targets, state, found)
        if self.structure.rest:
            with self._autocast(targets), only_known_rows(self.model):
                rest = whole_model_shares(self.model, self.structure.rest, inputs, targets, self.loss, state)
            found |= {name: [_Entry(share, share.squares())] for name, share in rest.items()}
        return {name: _together(parts) for name, parts in found.items()}

    def _keep_books(
        self, inputs: tuple[Tensor, ...], targets: Tensor, state: State | None, found: dict[str, list[_Entry]]
    ) -> None:
        """One pass forward and one back, during which every call of a layer is measured as soon as it can be."""
        anchor = torch.zeros((), device=targets.device, requires_grad=True)
        with torch.enable_grad(), self._autocast(targets):
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

    def _enter(self, call: Call, batch: int, uses: Mapping[str, int], found: dict[str, list[_Entry]]) -> None:
        """The shares of one call of a layer, under the names of the model's parameters."""
        assert call.outputs is not None
        require_rows(call, batch)
        rule, names = call.rule or rule_of(call.layer), self._names(call)
        assert rule is not None
        for own, share in rule(call.layer, call.inputs, call.outputs).items():
            if own in names:
                name = names[own]
                found.setdefault(name, []).append(_Entry(share, share.squares() if uses[name] == 1 else None))
        del call.inputs, call.outputs  # what the shares do not hold is let go

    def _autocast(self, targets: Tensor) -> AbstractContextManager[Any]:
        return nullcontext() if self.precision is None else torch.autocast(targets.device.type, self.precision)

    def _bound(self) -> float:
        """The bound less the room for rounding of the coarsest arithmetic in use."""
        used = {p.dtype for p in self.model.parameters() if p.requires_grad} | {self.precision or torch.float64}
        margin = max(MARGINS[kind] for kind in used)
        if any(p.is_cuda for p in self.model.parameters()) and margin < TENSOR_CORES and _short_products():
            margin = TENSOR_CORES
        return self.bound / (1 + margin)


@dataclass(frozen=True)
class _Entry:
    """A share and the squared norms of its samples, or None where it is one of several of the same parameter."""

    share: Share
    squares: Any


def _require_one_each(losses: Tensor, batch: int) -> None:
    if losses.shape != (batch,):
        raise InvalidArgument(
            f"the loss gave a shape of {tuple(losses.shape)} for {batch} samples: one number for each is needed, such "
            "as bruit.deep.cross_entropy gives, or a loss of your own that is not averaged (reduction='none')"
        )


def _short_products() -> bool:
    return torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32


def _together(parts: list[_Entry]) -> _Entry:
    """One share; the gradients of a parameter that was used several times are added before they are measured."""
    if len(parts) == 1 and parts[0].squares is not None:
        return parts[0]
    total = parts[0].share.per_sample()
    for part in parts[1:]:
        total = total + part.share.per_sample()
    whole = Kept(total)
    return _Entry(whole, whole.squares())
