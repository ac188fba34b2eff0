"""Protocols for the mean of a number: one bit, a piecewise report, or a mixture of both."""

from bruit.local.means.one_bit import MeanTally, OneBitMean
from bruit.local.means.piecewise import PiecewiseMean, WindowTally
from bruit.local.means.protocol import MeanProtocol

__all__ = ["MeanProtocol", "MeanTally", "OneBitMean", "PiecewiseMean", "WindowTally"]
