"""One gradient per record or person that has several rows in a batch: views of a record, records of a person.

The rows of an owner lie side by side: row r of owner u is row u·rows + r of the batch. The gradient of an owner is the
sum of those of its rows, whose losses were divided by their number.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn

from bruit.deep.per_sample.factored_gradients import PerSampleGradients, StoredGradients
from bruit.deep.per_sample.layer_hooks import Rule

OVER_POSITIONS = (nn.Linear, nn.Embedding)
"""Layers that sum over whatever lies between samples and features: rows become further positions, at no cost."""


def unit_gradients(rule: Rule, layer: Any, inputs: Tensor, outputs: Tensor, rows: int) -> dict[str, PerSampleGradients]:
    """The gradients of a layer call, summed over the `rows` consecutive rows of each record or person."""
    if rows == 1:
        return rule(layer, inputs, outputs)
    if isinstance(layer, OVER_POSITIONS):
        return rule(layer, inputs.unflatten(0, (-1, rows)), outputs.unflatten(0, (-1, rows)))
    each = [rule(layer, inputs[row::rows], outputs[row::rows]) for row in range(rows)]
    return {own: StoredGradients(_added([part[own] for part in each])) for own in each[0]}


def mean_of_rows(gradients: StoredGradients, rows: int) -> StoredGradients:
    """Stored gradients averaged over the `rows` consecutive rows of each record or person."""
    return gradients if rows == 1 else StoredGradients(gradients.gradients.unflatten(0, (-1, rows)).sum(1) / rows)


def _added(parts: list[PerSampleGradients]) -> Tensor:
    total = parts[0].per_sample()
    for part in parts[1:]:
        total = total + part.per_sample()
    return total
