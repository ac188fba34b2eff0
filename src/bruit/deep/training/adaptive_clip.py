"""A clipping bound that tracks a quantile of the per-sample gradient norms, estimated privately during training."""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, sqrt

import numpy as np

from bruit.errors import InvalidArgument


@dataclass(frozen=True)
class AdaptiveClip:
    """Adapts the bound to the `quantile` of the per-sample gradient norms.  [Andrew et al. 2021, Alg. 1]

    Each step also counts the samples that were not clipped, b̃ = (Σ (b_i − ½) + N(0, σ_b²)) / batch + ½ with
    σ_b = `count_noise` · batch, or z where that is more, and moves the bound, C ← C · exp(−rate (b̃ − quantile)).
    A sample moves the gradients by C and the count by ½, so that noise of multiplier z for both together is
    z_Δ = (z⁻² − (2σ_b)⁻²)^(−½) for the gradients: the count is paid within the same loss.
    """

    start: float
    quantile: float = 0.5
    rate: float = 0.2
    count_noise: float = 0.05

    def __post_init__(self) -> None:
        fine = 0 < self.quantile < 1 and self.rate > 0 and self.count_noise > 0 and 0 < self.start < float("inf")
        if not fine:
            raise InvalidArgument(
                f"{self}: give a start, a rate and a count_noise above zero, and a quantile between 0 and 1"
            )

    def gradient_noise(self, noise: float, batch_size: int) -> float:
        """The gradients' noise multiplier, raised above the plan's to pay for the noisy count of unclipped samples."""
        return 1 / sqrt(1 / noise**2 - 1 / (2 * self.deviation(noise, batch_size)) ** 2)

    def deviation(self, noise: float, batch_size: int) -> float:
        """The count's noise deviation, at least the noise multiplier so that gradients keep most of the budget."""
        return max(self.count_noise * batch_size, noise)

    def next_bound(
        self, bound: float, centred: float, batch_size: int, noise: float, rng: np.random.Generator
    ) -> float:
        """The next clipping bound; `centred` is Σ (b_i − ½) with b_i = 1 for an unclipped sample."""
        noisy = centred + float(rng.normal(0, self.deviation(noise, batch_size)))
        share = min(max(noisy / batch_size + 0.5, 0.0), 1.0)
        return bound * exp(-self.rate * (share - self.quantile))
