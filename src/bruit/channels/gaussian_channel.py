"""The Gaussian channel of coding theory: real numbers plus Gaussian noise, without a finite epsilon."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.channels.channel import Channel
from bruit.errors import InvalidArgument
from bruit.randomness import generator

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(127)
_SHARES: Final = _WEIGHTS / _WEIGHTS.sum()


@dataclass(frozen=True)
class ContinuousChannel(Channel):
    """Adds Gaussian noise of deviation `noise` to every real number sent.

    Its epsilon is infinite: inputs are unbounded and floating noise would leak; private noise is discrete
    (`IntegerNoise`). Bits are sent as +1 for zero and -1 for one.
    """

    noise: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.noise) and self.noise > 0):
            raise InvalidArgument(f"noise={self.noise} must be a finite number above zero: the deviation of the noise")

    @property
    def epsilon(self) -> float:
        """Infinity: Gaussian noise on unbounded numbers has no finite epsilon."""
        return math.inf

    def send(self, values: ArrayLike, rng: np.random.Generator | None = None) -> NDArray[np.float64]:
        """The numbers sent, each plus fresh Gaussian noise."""
        sent = np.asarray(values, dtype=np.float64)
        received = generator(rng).standard_normal(sent.shape)
        received *= self.noise
        received += sent
        return received

    def capacity(self, *, power: float = 1.0) -> float:
        """Bits per use for inputs of mean square at most `power`: log2(1 + power / noise^2) / 2.   [Shannon 1948]"""
        return 0.5 * math.log2(1 + power / self.noise**2)

    def binary_capacity(self) -> float:
        """Bits per use when only +1 and -1 are sent: 1 - E log2(1 + e^-L), L the log-likelihood ratio given +1.

        By Gauss–Hermite quadrature with 127 nodes.
        """
        ratio = self.noise**-2
        llr = 2 * ratio + 2 * math.sqrt(ratio) * _NODES
        return float(1 - _SHARES @ np.logaddexp(0, -llr) / math.log(2))

    def log_likelihood(self, received: ArrayLike) -> NDArray[np.float64]:
        """The log-likelihood ratio of +1 to -1 given each received number y: 2 y / noise^2."""
        return np.asarray(received, dtype=np.float64) * (2 / self.noise**2)

    def to_json(self) -> dict[str, Any]:
        """The channel in JSON types."""
        return {"kind": "gaussian", "noise": repr(float(self.noise))}


def gaussian(*, noise: float | None = None, snr: float | None = None) -> ContinuousChannel:
    """Makes the Gaussian channel of a given standard deviation, or of a given signal-to-noise ratio at power 1."""
    if (noise is None) == (snr is None):
        raise InvalidArgument("give either noise= (a deviation) or snr= (a ratio of powers), and not both")
    if snr is not None:
        if not (math.isfinite(snr) and snr > 0):
            raise InvalidArgument(f"snr={snr} must be a finite number above zero, a ratio of powers; 3 dB is 10**0.3")
        return ContinuousChannel(1 / math.sqrt(snr))
    assert noise is not None
    return ContinuousChannel(noise)
