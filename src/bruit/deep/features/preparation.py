"""Normalises features for a private head: unit-norm rows, minus a private mean, partly whitened."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum

import torch
from torch import Tensor, nn

from bruit.errors import InvalidArgument

ROUNDING = 2.0**-16
"""Relative room for rounding: rows are held in float32 and added in float64, where a sum of 2¹⁷ unit rows, one after
the other, is off by at most 2³⁴ · 2⁻⁵³ = 2⁻¹⁹. In float32 one record was seen to move the sum of 60 000 by more.
"""

ADDED_AT_ONCE = 4096
"""Rows that are turned to float64 together."""


class Over(StrEnum):
    """Which covariance a whitening uses: of all features, of channels, or of positions."""

    ALL = "all"
    """All features together."""

    CHANNELS = "channels"
    """Channels, alike at every position: few numbers, so little noise."""

    POSITIONS = "positions"
    """Positions, alike in every channel."""


@dataclass(frozen=True)
class Whitening:
    """Multiplies features by (covariance + floor)^−power; the private covariance costs a share of the budget."""

    share: float
    floor: float
    power: float = 0.5
    over: Over = Over.ALL

    def __post_init__(self) -> None:
        if not (0 < self.share < 1 and self.floor > 0 and 0 < self.power <= 1):
            raise InvalidArgument(f"{self}: give a share within (0, 1), a floor above 0 and a power within (0, 1]")


Normal = Callable[[Tensor], Tensor]
"""Standard normal noise of the shape of a tensor."""


class Preparation(nn.Module):
    """The feature transforms before the head: centring and whitening steps, each fitted after the earlier ones.

    Features are rows of channels times positions, whose order is that of a flattened map.
    """

    def __init__(self, width: int, channels: int | None) -> None:
        super().__init__()
        if channels is not None and width % channels:
            raise InvalidArgument(f"channels={channels} does not divide the {width} features")
        self.channels, self.kinds = channels, list[Over | None]()

    def require(self, kinds: Iterable[Over]) -> None:
        """Refuses whitenings over channels or positions where the number of channels is unknown."""
        if self.channels is None and any(kind is not Over.ALL for kind in kinds):
            raise InvalidArgument("whitening over channels or positions needs channels=, their number")

    def forward(self, features: Tensor) -> Tensor:
        """The transformed features, as rows of norm at most one."""
        rows = unit(features.float())
        for number, kind in enumerate(self.kinds):
            rows = self._transform(rows, kind, self.get_buffer(f"step_{number}"))
        return rows

    def add(self, kind: Over | None, values: Tensor) -> None:
        """Appends a step: a mean to subtract (`kind=None`) or a whitening matrix to multiply with."""
        self.register_buffer(f"step_{len(self.kinds)}", values)
        self.kinds.append(kind)

    def latest(self, rows: Tensor) -> Tensor:
        """Applies only the last step, to rows that went through the others."""
        return self._transform(rows, self.kinds[-1], self.get_buffer(f"step_{len(self.kinds) - 1}"))

    def _transform(self, rows: Tensor, kind: Over | None, values: Tensor) -> Tensor:
        if kind is None:
            return unit(rows - values)
        if kind is Over.ALL:
            return unit(rows @ values)
        maps = self._maps(rows)
        turned = torch.matmul(values, maps) if kind is Over.CHANNELS else torch.matmul(maps, values)
        return unit(turned.flatten(-2))

    def grams(self, rows: Tensor, kind: Over) -> Tensor:
        """Σ over records of the outer products of features, channels or positions, averaged over a record's views."""
        views = rows.shape[1] if rows.dim() == 3 else 1
        if kind is Over.ALL:
            flat = rows.reshape(-1, rows.shape[-1])
        else:
            maps = self._maps(rows)
            turned = maps.mT if kind is Over.CHANNELS else maps
            flat = turned.reshape(-1, turned.shape[-1])
        products = flat.new_zeros(flat.shape[1], flat.shape[1], dtype=torch.float64)
        for part in flat.split(ADDED_AT_ONCE):
            products.addmm_(part.double().mT, part.double())
        return products / views

    def _maps(self, rows: Tensor) -> Tensor:
        assert self.channels is not None
        maps: Tensor = rows.unflatten(-1, (self.channels, -1))
        return maps


def unit(rows: Tensor) -> Tensor:
    """Rows divided by their norm; a row with a non-finite entry becomes zero, so that no error reveals it.

    The largest entry is divided out first: the squares of very small ones would vanish from the norm, and a row of such
    entries come out longer than one.
    """
    largest = rows.abs().amax(-1, keepdim=True)
    usable = largest.isfinite() & (largest >= torch.finfo(rows.dtype).tiny)
    scaled = torch.where(usable, rows / torch.where(usable, largest, 1), 0)
    norms = torch.linalg.vector_norm(scaled, dim=-1, keepdim=True, dtype=torch.float64)
    found: Tensor = scaled / norms.clamp(min=1).to(scaled.dtype)
    return found


def private_mean(rows: Tensor, noise: float, normal: Normal, size: int) -> Tensor:
    """(Σ rows + noise) / size, where the views of a record are averaged so that it moves the sum by at most one."""
    total = row_sum(rows)
    return ((total + noise * (1 + ROUNDING) * normal(total.float())) / size).float()


def row_sum(rows: Tensor) -> Tensor:
    """Σ over records of the mean of their views."""
    return (rows.mean(1) if rows.dim() == 3 else rows).sum(0, dtype=torch.float64)


def private_covariance(gram: Tensor, noise: float, normal: Normal, size: int) -> Tensor:
    """(Σ x xᵀ + symmetric noise) / size.

    With what is off the diagonal counted √2 times, the upper triangle of x xᵀ has the norm ‖x xᵀ‖ = ‖x‖² ≤ 1; so off
    the diagonal the deviation of the noise is √2 less.                                   [Dwork et al. 2014, Alg. 1]
    """
    drawn = normal(gram.float()) * noise * (1 + ROUNDING)
    upper = drawn.triu(1) / 2**0.5
    return (gram + upper + upper.mT + drawn.diagonal().diag()) / size


def whitener(covariance: Tensor, *, floor: float, power: float) -> Tensor:
    """(covariance + floor)^−power; eigenvalues that noise made negative are handled too."""
    values, vectors = torch.linalg.eigh(covariance)
    matrix: Tensor = (vectors * (values.clamp(min=0) + floor).pow(-power)) @ vectors.mT
    return matrix
