"""Correlated noise (banded matrix factorisation): its settings, price and expected error."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import whole
from bruit.core.neighbours import Neighbours
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument
from bruit.privacy import TrainingPlan, plan
from bruit.privacy.training.correlated_noise import banded_plan
from bruit.privacy.training.factorisation import mean_square, optimise


@dataclass(frozen=True)
class Banded:
    """Correlated noise C⁻¹z for a banded C: each step cancels part of the noise of the `bands` - 1 steps before it.

    Every record is dealt once into one of `bands` groups, and step t draws from group t mod `bands`, at `bands` times
    the rate. One band is independent noise and ordinary sampling. `momentum` is that of the optimiser, which the
    matrix is chosen for; it changes no price.                                          [Choquette-Choo et al. 2023]
    """

    bands: int
    momentum: float = 0.0

    def __post_init__(self) -> None:
        whole(self.bands, "bands")
        if not 0 <= self.momentum < 1:
            raise InvalidArgument(f"momentum={self.momentum}: give that of the optimiser, from 0 to below 1")

    def coefficients(self, steps: int) -> NDArray[np.float64]:
        """The first column of the Toeplitz matrix C for a run of this many steps."""
        return optimise(self.bands, steps, self.momentum)

    def plan(
        self,
        *,
        size: int,
        batch_size: int,
        epochs: int,
        delta: Exact,
        neighbours: Neighbours,
        target_epsilon: Exact,
        by: str = "pld",
        orders: list[float] | None = None,
    ) -> TrainingPlan:
        """The plan of a run with the smallest noise multiplier that meets a target epsilon."""
        asked: dict[str, Any] = {
            "size": size,
            "batch_size": batch_size,
            "epochs": epochs,
            "delta": delta,
            "neighbours": neighbours,
            "target_epsilon": target_epsilon,
            "by": by,
            "orders": orders,
        }
        return banded_plan(self.bands, **asked) if self.bands > 1 else plan(**asked)

    def expected_error(self, planned: TrainingPlan) -> float:
        """The root mean squared noise per coordinate of a plan's summed gradients, in units of the clipping bound.

        σ ‖A C⁻¹‖ / √T. It asks for no data: of two numbers of bands, the one with less is the one to try.
        """
        return planned.noise_multiplier * sqrt(
            mean_square(self.coefficients(planned.steps), planned.steps, self.momentum)
        )


INDEPENDENT = Banded(1)
"""Noise of its own for every step."""
