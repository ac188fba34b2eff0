"""The clipped sum of per-sample gradients from one forward and one backward pass."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from bruit.deep.clipping import MARGINS, TENSOR_CORES, Clipping, factors
from bruit.deep.examination import Structure, require_rows
from bruit.deep.fallback import Loss, whole_model_shares
from bruit.deep.rules import rule_of
from bruit.deep.shares import Kept, Share
from bruit.deep.watching import Call, watched
from bruit.errors import InvalidArgument


@dataclass(frozen=True)
class Engine:
    """Clips the gradient of each sample of a model and adds them up.

    `precision` is the type in which layers compute (torch.autocast), None for the model's own. A sample whose gradient
    is not finite counts as zero: what happens to a record must not show.                [DESIGN, privacy rule 2]
    """

    model: nn.Module
    structure: Structure
    loss: Loss
    bound: float
    how: Clipping = Clipping.FLAT
    precision: torch.dtype | None = None

    def clipped_sum(self, inputs: tuple[Tensor, ...], targets: Tensor, weights: Tensor) -> dict[str, Tensor]:
        """Σ_b weight_b · clip(g_b) for every trainable parameter; a weight is 1, or 0 for padding."""
        shares = self.shares(inputs, targets)
        if not shares:  # nothing that is trained moves the loss
            return {}
        names = list(shares)
        squares = torch.stack([shares[name].squares() for name in names])
        finite = squares.isfinite().all(0)
        each = factors(squares, [self.structure.layer_of(name) for name in names], bound=self._bound(), how=self.how)
        each = torch.where(finite, each, 0) * weights
        if not bool(finite.all()):
            shares = {name: share.without(~finite) for name, share in shares.items()}
        with torch.no_grad():
            return {name: shares[name].weighted(each[row]) for row, name in enumerate(names)}

    def shares(self, inputs: tuple[Tensor, ...], targets: Tensor) -> dict[str, Share]:
        """What every sample adds to the gradient of every trainable parameter, by the parameter's name."""
        found: dict[str, list[Share]] = {}
        if self.structure.ruled:
            for call in self._books(inputs, targets):
                self._enter(call, len(targets), found)
        if self.structure.rest:
            with self._autocast(targets):
                rest = whole_model_shares(self.model, self.structure.rest, inputs, targets, self.loss)
            found |= {name: [share] for name, share in rest.items()}
        return {name: _together(parts) for name, parts in found.items()}

    def _books(self, inputs: tuple[Tensor, ...], targets: Tensor) -> list[Call]:
        anchor = torch.zeros((), device=targets.device, requires_grad=True)
        with torch.enable_grad(), self._autocast(targets):
            with watched(self.structure.ruled, anchor) as calls:
                outputs = self.model(*inputs)
            losses = self.loss(outputs, targets)
        if losses.shape != (len(targets),):
            raise InvalidArgument(
                f"the loss gave a shape of {tuple(losses.shape)} for {len(targets)} samples: one number for each is "
                "needed, such as torch.nn.CrossEntropyLoss(reduction='none')"
            )
        if losses.requires_grad:
            torch.autograd.grad(losses.sum(), anchor, allow_unused=True)
        return calls

    def _enter(self, call: Call, batch: int, found: dict[str, list[Share]]) -> None:
        """The shares of one call of a layer, under the names of the model's parameters."""
        if call.outputs is None:
            return
        require_rows(call, batch)
        rule = rule_of(call.layer)
        assert rule is not None
        with torch.no_grad():
            for own, share in rule(call.layer, call.inputs, call.outputs).items():
                name = self.structure.name_of(getattr(call.layer, own))
                if name not in self.structure.rest:
                    found.setdefault(name, []).append(share)

    def _autocast(self, targets: Tensor) -> AbstractContextManager[Any]:
        return nullcontext() if self.precision is None else torch.autocast(targets.device.type, self.precision)

    def _bound(self) -> float:
        """The bound less the room for rounding of the coarsest arithmetic in use."""
        used = {p.dtype for p in self.model.parameters() if p.requires_grad} | {self.precision or torch.float64}
        margin = max(MARGINS[kind] for kind in used)
        if any(p.is_cuda for p in self.model.parameters()) and margin < TENSOR_CORES and _short_products():
            margin = TENSOR_CORES
        return self.bound / (1 + margin)


def _short_products() -> bool:
    return torch.backends.cudnn.allow_tf32 or torch.backends.cuda.matmul.allow_tf32


def _together(parts: list[Share]) -> Share:
    """One share; the gradients of a parameter that was used several times are added before they are measured."""
    if len(parts) == 1:
        return parts[0]
    total = parts[0].per_sample()
    for part in parts[1:]:
        total = total + part.per_sample()
    return Kept(total)
