"""The Gaussian channel of codes: real numbers with Gaussian noise, and no finite epsilon."""

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
        """No number bounds what a received value tells of an unbounded one."""
        return math.inf

    def send(self, values: ArrayLike, rng: np.random.Generator | None = None) -> NDArray[np.float64]:
        """The numbers sent plus fresh noise."""
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
        """What a received number says of the bit: log p(y | +1) / p(y | -1) = 2 y / noise^2."""
        return np.asarray(received, dtype=np.float64) * (2 / self.noise**2)

    def to_json(self) -> dict[str, Any]:
        """The channel in JSON types."""
        return {"kind": "gaussian", "noise": repr(float(self.noise))}


def gaussian(*, noise: float | None = None, snr: float | None = None) -> ContinuousChannel:
    """The Gaussian channel of the given deviation, or of the given ratio of signal power 1 to noise power."""
    if (noise is None) == (snr is None):
        raise InvalidArgument("give either noise= (a deviation) or snr= (a ratio of powers), and not both")
    if snr is not None:
        if not (math.isfinite(snr) and snr > 0):
            raise InvalidArgument(f"snr={snr} must be a finite number above zero, a ratio of powers; 3 dB is 10**0.3")
        return ContinuousChannel(1 / math.sqrt(snr))
    assert noise is not None
    return ContinuousChannel(noise)
