"""Noisy channels whose law is public: over symbols, integers, vectors and scores, their JSON, and how they combine."""

from bruit.channels.channel import Channel
from bruit.channels.choices import Choice, Exponential, PermuteAndFlip
from bruit.channels.finite import FiniteChannel, MatrixChannel, Repeated
from bruit.channels.gaussian_channel import ContinuousChannel, gaussian
from bruit.channels.integer_noise import (
    IntegerLoss,
    IntegerNoise,
    laplace_log_characteristic,
    laplace_variance,
    ratio_of,
    require_scale,
    require_variance,
)
from bruit.channels.named import ErasureChannel, binary, erasure, matrix
from bruit.channels.reading import channel_from_json
from bruit.channels.support import Support
from bruit.channels.symmetric_channel import SymmetricChannel, symmetric
from bruit.channels.unmixed import Unmixed
from bruit.channels.vector_noise import CubeNoise, GaussianVector, VectorNoise
from bruit.channels.weights import ONE, checked_epsilon, log_above, loss_of, share

__all__ = [
    "ONE",
    "Channel",
    "Choice",
    "ContinuousChannel",
    "CubeNoise",
    "ErasureChannel",
    "Exponential",
    "FiniteChannel",
    "GaussianVector",
    "IntegerLoss",
    "IntegerNoise",
    "MatrixChannel",
    "PermuteAndFlip",
    "Repeated",
    "Support",
    "SymmetricChannel",
    "Unmixed",
    "VectorNoise",
    "binary",
    "channel_from_json",
    "checked_epsilon",
    "erasure",
    "gaussian",
    "laplace_log_characteristic",
    "laplace_variance",
    "log_above",
    "loss_of",
    "matrix",
    "ratio_of",
    "require_scale",
    "require_variance",
    "share",
    "symmetric",
]
