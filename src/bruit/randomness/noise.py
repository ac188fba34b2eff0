"""Integer noise whose law is exact: geometric, discrete Laplace and discrete Gaussian."""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import Number, fraction, whole
from bruit.errors import InvalidArgument
from bruit.randomness import reference
from bruit.randomness._kernels import fill_gaussian, fill_one_sided, fill_two_sided, fill_wide_gaussian
from bruit.randomness.stream import Fill, fill, fill_slowly

LARGEST_SCALE = 2**53
"""Noise of this scale passes the range of int64 with probability below exp(-1000)."""

COMMON = 24
"""Proposals up to this many scales are left to the compiled kernel: all but one in exp(24)."""


def geometric(scale: Number, size: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
    """`size` independent integers k >= 0 with mass (1 - exp(-1/scale)) exp(-k/scale), for a rational scale.

    [Canonne, Kamath and Steinke 2020, Algorithm 2]
    """
    return _exponential(scale, size, rng, fill_one_sided, reference.one_sided)


def discrete_laplace(scale: Number, size: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
    """`size` independent integers with mass tanh(1/(2 scale)) exp(-|k|/scale), for a rational scale.

    [Canonne, Kamath and Steinke 2020, Algorithm 2]
    """
    return _exponential(scale, size, rng, fill_two_sided, reference.two_sided)


def discrete_gaussian(variance: Number, size: int, *, rng: np.random.Generator | None = None) -> NDArray[np.int64]:
    """`size` independent integers with mass proportional to exp(-k^2 / (2 variance)), for a rational variance.

    [Canonne, Kamath and Steinke 2020, Algorithm 3]
    """
    number, out = fraction(variance, "variance"), np.empty(whole(size, "size", least=0), np.int64)
    if not 0 < number < LARGEST_SCALE**2:
        raise InvalidArgument(f"variance={variance}: give a number above 0 and below 2^106, whose draws fit 64 bits")
    proposal = Proposal.of(number)
    if proposal.fits(2**32, 2**63):
        return fill(rng, out, fill_gaussian, *proposal.narrow(), each=12, slow=proposal.draw)
    if proposal.fits(2**63, 2**127):
        return fill(rng, out, fill_wide_gaussian, *proposal.wide(), each=16, slow=proposal.draw)
    return fill_slowly(rng, out, proposal.draw)


def _exponential(
    scale: Number, size: int, rng: np.random.Generator | None, kernel: Fill, draw: reference.Exponential
) -> NDArray[np.int64]:
    ratio, out = fraction(scale, "scale"), np.empty(whole(size, "size", least=0), np.int64)
    if not 0 < ratio < LARGEST_SCALE:
        raise InvalidArgument(f"scale={scale}: give a number above 0 and below 2^53, whose draws fit 64 bits")
    over, under = ratio.numerator, ratio.denominator
    if max(over, under) < 2**63:
        return fill(rng, out, kernel, np.uint64(over), np.uint64(under), each=8)
    return fill_slowly(rng, out, lambda words: draw(words, over, under))


@dataclass(frozen=True)
class Proposal:
    """Rejection sampling of the discrete Gaussian from a discrete Laplace of integer scale: its four parameters.

    A draw k is kept with probability exp(-(multiplier |k| - shift)^2 / denominator).
    With variance n/d and scale t the exponent is (|k| - n/(d t))^2 / (2 n/d) = (t d |k| - n)^2 / (2 n d t^2).
    """

    scale: int
    multiplier: int
    shift: int
    denominator: int

    @classmethod
    def of(cls, variance: Fraction) -> "Proposal":
        """The proposal for a variance; its scale is the standard deviation rounded up to an integer."""
        top, bottom = variance.numerator, variance.denominator
        root = isqrt(top // bottom)
        if bottom == 1 and root * root == top:  # a whole deviation cancels down to small numbers
            return cls(root, 1, root, 2 * top)
        scale = root + 1
        return cls(scale, scale * bottom, top, 2 * top * bottom * scale**2)

    def fits(self, distance: int, denominator: int) -> bool:
        """Whether the numbers in the kernel stay below both bounds, for all but the rarest draws."""
        return max(self.shift, COMMON * self.scale * self.multiplier) < distance and self.denominator < denominator

    def narrow(self) -> tuple[np.uint64, np.int64, np.int64, np.uint64, np.int64]:
        """The arguments of the kernel that computes in 64-bit words."""
        scale, multiplier, shift = np.uint64(self.scale), np.int64(self.multiplier), np.int64(self.shift)
        return scale, multiplier, shift, np.uint64(self.denominator), np.int64(COMMON * self.scale)

    def wide(self) -> tuple[np.uint64, np.int64, np.int64, np.uint64, np.uint64, np.uint64, np.int64]:
        """The arguments of the kernel that computes in pairs of 64-bit words."""
        scale, multiplier, shift = np.uint64(self.scale), np.int64(self.multiplier), np.int64(self.shift)
        high, low = divmod(self.denominator, 2**64)
        mask = np.uint64((1 << high.bit_length()) - 1)
        return scale, multiplier, shift, np.uint64(high), np.uint64(low), mask, np.int64(COMMON * self.scale)

    def draw(self, words: reference.Words) -> int:
        """One exact draw with numbers of any size."""
        return reference.gaussian(words, self.scale, self.multiplier, self.shift, self.denominator)
