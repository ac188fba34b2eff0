"""A curator's release as noisy counts or totals, with the law of its noise: read from what the release says itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bruit.channels import IntegerNoise
from bruit.core.losses import DiscreteGaussian, DiscreteLaplace, loss_from_json
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.inference.noise_laws import AddedNoise
from bruit.inference.noisy_counts import Axis, Block, Cells
from bruit.inference.totals import Totals
from bruit.tables import OTHER, Domain, Within, domain_from_json

SUMS: dict[tuple[str, ...], tuple[tuple[float, ...], ...]] = {
    ("above", "below"): ((1.0, 1.0), (1.0, 0.0), (1.0, 0.0)),
    ("twice below", "between", "twice above"): ((1.0, 1.0, 1.0), (0.0, 0.5, 1.0), (0.0, 0.0, 1.0)),
}
"""Number, sum and sum of squares of places u from 0 to 1 between the bounds, by the parts of a mean and of a variance.

The parts of a variance are (1 - u)^2, 2 u (1 - u) and u^2. Those of a mean, u and 1 - u, leave the squares open:
u^2 <= u bounds them, exactly for values at the bounds.
"""


def cells_of_release(release: Release[Any]) -> Cells:
    """The noisy counts of a histogram, of groups, or of a question about counts; what is OTHER is left out."""
    noisy = _only(release)
    if list(noisy["parts"]) not in (["rows"], ["people"]):
        raise InvalidArgument(
            f"a release of {release.method} holds no counts by cell: give a histogram, or ask for the mean of it"
        )
    counts = np.asarray(next(iter(noisy["parts"].values())), np.float64)
    axes = _axes(release)
    table = counts.reshape(tuple(len(axis.labels) for axis in axes))
    for place, axis in enumerate(axes):
        kept = [i for i, label in enumerate(axis.labels) if label != OTHER]
        table = table.take(kept, axis=place)
    return Cells(tuple(map(_listed, axes)), (Block(table, _law(noisy)),), (release.guarantee,))


def totals_of_release(release: Release[Any]) -> Totals | None:
    """The totals that a mean or a variance was made of; None for a release of counts."""
    noisy = _only(release)
    parts = noisy["parts"]
    if release.details.get("size_is_public") and list(parts) == ["sum"]:
        return _around_the_middle(release, noisy, int(release.details["size"]))
    if tuple(parts) not in SUMS:
        return None
    counts = np.array([np.asarray(part, np.float64) for part in parts.values()])
    if counts.size != len(parts):
        raise InvalidArgument("this release holds several groups: ask for one, or give a histogram by group and value")
    steps = noisy["highest"] - noisy["lowest"]
    unit = 1 / steps ** (len(parts) - 1)
    low, span = noisy["lowest"] * noisy["grid"], steps * noisy["grid"]
    number, places, squares = np.array(SUMS[tuple(parts)])
    matrix = np.stack(
        [number, low * number + span * places, low**2 * number + 2 * low * span * places + span**2 * squares]
    )
    block = Block(counts.reshape(-1) * unit, _law(noisy, unit))
    return Totals(block, matrix, np.zeros(3), low, low + span, steps == 1, (release.guarantee,))


def _around_the_middle(release: Release[Any], noisy: Mapping[str, Any], size: int) -> Totals:
    """The totals of a mean of a public size: one noisy sum of distances from a point between the bounds.

    (x - low)(high - x) >= 0 bounds the squares, exactly for values at the bounds.
    """
    domain = domain_from_json(release.details["asked"]["columns"][0]["domain"])
    assert isinstance(domain, Within)
    grid, low, high = noisy["grid"], float(domain.low), float(domain.high)
    middle = low - noisy["lowest"] * grid
    total = np.asarray(noisy["parts"]["sum"], np.float64).reshape(-1) * grid
    matrix, offsets = np.array([[0.0], [1.0], [low + high]]), np.array([size, size * middle, 0.0])
    offsets[2] = (low + high) * size * middle - low * high * size
    block = Block(total, _law(noisy, grid))
    return Totals(block, matrix, offsets, low, high, domain.size == 2, (release.guarantee,))


def _only(release: Release[Any]) -> Mapping[str, Any]:
    """The noisy integers of the one measure of a release of people who count once."""
    noisy, asked = release.details.get("noisy"), release.details.get("asked", {})
    if not noisy or len(noisy) != 1:
        raise InvalidArgument(
            f"a release by {release.method} does not carry the law of one noise: give a histogram, count, mean or "
            "variance of bruit.central, or a question with one measure and declared groups"
        )
    bounds = [(where or {}).get(name) for where in (asked, asked.get("limit")) for name in ("rows", "groups", "each")]
    if any(bound not in (None, 1) for bound in bounds):
        raise InvalidArgument("people are the sample here, so each must count once: ask again with limit(rows=1)")
    (measure,) = noisy.values()
    return dict(measure)


def _law(noisy: Mapping[str, Any], unit: float = 1.0) -> AddedNoise:
    loss = loss_from_json(noisy["loss"])
    assert isinstance(loss, DiscreteLaplace | DiscreteGaussian)
    return AddedNoise(IntegerNoise(loss), unit)


def _axes(release: Release[Any]) -> tuple[Axis, ...]:
    """The columns of the groups: by their domains, or of a question by its labels."""
    by = release.details["asked"].get("by")
    if by is None:
        return _question_axes(release)
    return tuple(_axis(each["name"], domain_from_json(each["domain"])) for each in by) or (Axis("people", ("all",)),)


def _axis(name: str, domain: Domain) -> Axis:
    if isinstance(domain, Within):
        values = domain.decode(np.arange(domain.lowest, domain.highest + 1))
        return Axis(name, tuple(f"{value:g}" for value in values), values)
    return Axis(name, tuple(domain.labels))


def _question_axes(release: Release[Any]) -> tuple[Axis, ...]:
    keys, cells = list(release.details["asked"]["keys"]), release.details["cells"]
    labels = [tuple(dict.fromkeys(str(cell[place]) for cell in cells)) for place in range(len(keys))]
    return tuple(map(Axis, keys, labels)) or (Axis("people", ("all",)),)


def _listed(axis: Axis) -> Axis:
    return Axis(axis.name, tuple(label for label in axis.labels if label != OTHER), axis.values)
