"""Groups of parameters whose per-sample norms are computed together: vectors concatenated, matrices alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import torch
from torch import Tensor

from bruit.deep.per_sample.factored_gradients import PerSampleGradients, StoredGradients


class MeasuredGradients:
    """The per-sample gradients of one parameter, and their squared norms once measured."""

    def __init__(self, gradients: PerSampleGradients) -> None:
        self.gradients = gradients
        self.squares: Tensor | None = None

    @property
    def is_vector(self) -> bool:
        """Whether the parameter is a vector with stored gradients, whose norms can wait at no extra memory."""
        return type(self.gradients) is StoredGradients and self.gradients.gradients.dim() == 2

    def measure(self) -> None:
        """Computes the squared norms now, except for vectors, so that the layer's inputs can be freed."""
        if not self.is_vector:
            self.squares = self.gradients.squares()


def merge(parts: Sequence[MeasuredGradients]) -> MeasuredGradients:
    """One entry for a parameter used several times: its gradients are summed before their norms are computed."""
    if len(parts) == 1:
        return parts[0]
    total = parts[0].gradients.per_sample()
    for part in parts[1:]:
        total = total + part.gradients.per_sample()
    return MeasuredGradients(StoredGradients(total))


@dataclass(frozen=True)
class NormGroup:
    """Parameters that share clipping factors: a single parameter, or several concatenated vectors."""

    names: tuple[str, ...]
    gradients: PerSampleGradients
    squares: Tensor
    sizes: tuple[int, ...] = ()

    def weighted(self, weights: Tensor) -> dict[str, Tensor]:
        """The weighted sum of the per-sample gradients of each parameter, by name."""
        total = self.gradients.weighted(weights)
        return dict(zip(self.names, total.split(self.sizes) if self.sizes else [total], strict=True))

    def without(self, dropped: Tensor) -> NormGroup:
        """The group with the gradients of some samples set to zero."""
        return NormGroup(self.names, self.gradients.without(dropped), self.squares, self.sizes)


def group_parameters(entries: Mapping[str, MeasuredGradients], *, apart: bool) -> list[NormGroup]:
    """Sorts the parameters into norm groups; with `apart` each parameter is a group."""
    vectors = {name: entry for name, entry in entries.items() if entry.is_vector and not apart}
    alone = [_alone(name, entry) for name, entry in entries.items() if name not in vectors]
    return alone + [_side_by_side(group) for group in _of_one_kind(vectors)]


@torch.no_grad()
def sum_groups(groups: Sequence[NormGroup], weights: Tensor, *, dropped: Tensor | None = None) -> dict[str, Tensor]:
    """The weighted gradient sums of all parameters, with one row of weights per group; dropped samples are not read."""
    found: dict[str, Tensor] = {}
    for row, group in enumerate(groups):
        found |= (group if dropped is None else group.without(dropped)).weighted(weights[row])
    return found


def _alone(name: str, entry: MeasuredGradients) -> NormGroup:
    return NormGroup((name,), entry.gradients, entry.gradients.squares() if entry.squares is None else entry.squares)


def _of_one_kind(vectors: Mapping[str, MeasuredGradients]) -> list[dict[str, Tensor]]:
    held = {
        name: entry.gradients.gradients
        for name, entry in vectors.items()
        if isinstance(entry.gradients, StoredGradients)
    }
    kinds = sorted(held.items(), key=lambda item: str(item[1].dtype))
    return [dict(group) for _, group in groupby(kinds, key=lambda item: item[1].dtype)]


def _side_by_side(vectors: Mapping[str, Tensor]) -> NormGroup:
    gradients = StoredGradients(torch.cat(list(vectors.values()), 1))
    return NormGroup(tuple(vectors), gradients, gradients.squares(), tuple(each.shape[1] for each in vectors.values()))
