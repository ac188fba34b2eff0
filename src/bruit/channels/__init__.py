"""Noisy channels whose law is exact, their JSON, and how they combine."""

from bruit.channels.channel import Channel, MatrixChannel, Repeated
from bruit.channels.gaussian import ContinuousChannel, gaussian
from bruit.channels.laws import ErasureChannel, binary, channel_from_json, erasure, matrix
from bruit.channels.loss import ONE, checked_epsilon, log_above, loss_of, share
from bruit.channels.symmetric import SymmetricChannel, symmetric
from bruit.channels.unmixed import Unmixed

__all__ = [
    "ONE",
    "Channel",
    "ContinuousChannel",
    "ErasureChannel",
    "MatrixChannel",
    "Repeated",
    "SymmetricChannel",
    "Unmixed",
    "binary",
    "channel_from_json",
    "checked_epsilon",
    "erasure",
    "gaussian",
    "log_above",
    "loss_of",
    "matrix",
    "share",
    "symmetric",
]
