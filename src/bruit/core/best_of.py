"""The privacy loss of a search that makes a random number of runs and releases only the best, and that of a run."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from bruit.core.losses import Loss
from bruit.core.neighbours import Neighbours
from bruit.core.numbers import Exact, exactly, positive
from bruit.errors import InvalidArgument, NeighboursDiffer


@dataclass(frozen=True)
class BestOf(Loss):
    """The loss of making a random number of runs, each with loss `loss`, and releasing only the best of all.

    The number of runs is at least one, drawn independently of the data and kept secret. Its law is the truncated
    negative binomial of a shape and a chance `stop`: logarithmic for shape 0, geometric for shape 1.

    Pr[k] proportional to (1 - stop)^k / k (shape 0), or to (1 - stop)^k (shape 1)     [Papernot & Steinke 2022, Def. 1]
    """

    loss: Loss
    shape: int
    stop: Fraction

    def __init__(self, loss: Loss, *, shape: int, stop: Exact, neighbours: Neighbours | None = None) -> None:
        chosen = exactly(stop, "stop")
        if shape not in (0, 1) or not 0 < chosen <= 1:
            raise InvalidArgument(f"shape={shape}, stop={stop}: shape is 0 or 1, stop is above 0 and at most 1")
        if not isinstance(loss, Loss):
            raise InvalidArgument(f"{loss!r} is not a loss; give bruit.privacy.Pure, ZeroConcentrated or another")
        if neighbours not in (None, loss.neighbours):
            raise NeighboursDiffer(f"runs for {loss.neighbours} cannot have a best for {neighbours}")
        self._fix(neighbours=loss.neighbours, loss=loss, shape=int(shape), stop=chosen)

    @property
    def mean(self) -> float:
        """The expected number of runs: (1/stop - 1) / ln(1/stop) for shape 0, 1/stop for shape 1."""
        return log_mean(self.stop) if self.shape == 0 else float(1 / self.stop)


@dataclass(frozen=True)
class RenyiBounded(Loss):
    """The loss of any mechanism whose Rényi divergence of one order is at most `divergence`.

    It bounds the divergences of all lower orders, and none of a higher one.                 [Mironov 2017, Prop. 9]
    """

    order: Fraction
    divergence: Fraction

    def __init__(self, divergence: Exact, *, order: Exact, neighbours: Neighbours) -> None:
        chosen = exactly(order, "order")
        if chosen <= 1:
            raise InvalidArgument(f"order={order} must be above 1")
        self._fix(neighbours=neighbours, order=chosen, divergence=positive(divergence, "divergence"))


def log_mean(stop: Fraction) -> float:
    """The mean of the logarithmic law, (1/stop - 1) / ln(1/stop); 1 where stop is 1."""
    if stop == 1:
        return 1.0
    return float(1 / stop - 1) / (math.log(stop.denominator) - math.log(stop.numerator))
