"""Limits on any code: Shannon's limit, and the normal approximation at finite length."""

from collections.abc import Callable
from typing import Literal

import numpy as np
import scipy
from scipy import optimize

from bruit.codes.word import LARGEST
from bruit.core.arguments import one_of, share, whole
from bruit.errors import InvalidArgument

Kind = Literal["gaussian", "symmetric", "erasure", "randomised response"]
"""The families of channels and their levels: Eb/N0 in dB, chance of an error, chance of a loss, ε."""

KINDS: tuple[Kind, ...] = ("gaussian", "symmetric", "erasure", "randomised response")

_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(127)
_SHARES = _WEIGHTS / _WEIGHTS.sum()


def capacity_and_dispersion(kind: Kind, level: float, *, rate: float = 1.0) -> tuple[float, float]:
    """Capacity and dispersion, in bits per binary channel use, at this noise level.

    The information density is 1 − log2(1 + e^−L), L the log-likelihood of the bit that was sent; `rate` turns
    Eb/N0 into a ratio of powers.                                  [Polyanskiy, Poor & Verdú 2010, Section IV]
    """
    if kind == "gaussian":
        ratio = 2 * rate * 10 ** (level / 10)
        density = 1 - np.logaddexp(0, -(2 * ratio + 2 * np.sqrt(ratio) * _NODES)) / np.log(2)
        shares = _SHARES
    elif kind == "erasure":
        density, shares = np.array([1.0, 0.0]), np.array([1 - level, level])
    else:
        wrong = level if kind == "symmetric" else 1 / (1 + np.exp(level))
        shares = np.array([1 - wrong, wrong])
        density = 1 + np.log2(np.maximum(shares, 1e-300))
    mean = float(shares @ density)
    return mean, float(shares @ (density - mean) ** 2)


def shannon_limit(rate: float, kind: Kind = "gaussian") -> float:
    """The worst noise level at which a code of this rate can still work, where capacity = rate.    [Shannon 1948]

    For bits over a Gaussian channel, rate 1/3 needs −0.495 dB, 1/2 needs 0.187 dB and 3/4 needs 1.626 dB.
    """
    share(rate, "rate")
    return _worst(lambda level: capacity_and_dispersion(kind, level, rate=rate)[0] - rate, kind)


def finite_length_limit(n: int, k: int, *, word_errors: float, kind: Kind = "gaussian") -> float:
    """The worst noise level at which the best (n, k) code reaches a word error rate, by the normal approximation.

    The normal approximation: k = nC − √(nV) Q⁻¹(word_errors) + ½ log2 n.    [Polyanskiy, Poor & Verdú 2010, (296)]
    """
    share(whole(k, "k") / whole(n, "n", most=LARGEST), "k / n")
    share(word_errors, "word_errors")
    reach = float(scipy.stats.norm.isf(word_errors))

    def spare(level: float) -> float:
        mean, variance = capacity_and_dispersion(kind, level, rate=k / n)
        return float(n * mean - k + 0.5 * np.log2(n) - np.sqrt(n * variance) * reach)

    return _worst(spare, kind)


def _worst(spare: Callable[[float], float], kind: Kind) -> float:
    one_of(kind, "kind", KINDS)
    low, high = {"gaussian": (-20.0, 30.0), "symmetric": (1e-12, 0.5), "erasure": (0.0, 1.0)}.get(kind, (1e-6, 40.0))
    if (spare(low) < 0) == (spare(high) < 0):
        raise InvalidArgument(f"no level from {low:g} to {high:g} is the limit of such a code over {kind!r}")
    return float(optimize.brentq(spare, low, high, xtol=1e-10))
