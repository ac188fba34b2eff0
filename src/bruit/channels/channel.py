"""The base class of every channel: a value goes in and comes out changed by a public law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np


class Channel(ABC):
    """A noisy channel: a public probability law from what is sent to what is received.

    The law is read three ways: how well it hides a person (`epsilon`, or the `loss` that an accountant prices), how far
    it moves the truth (`half_width`, `unmix`), how much gets across (`capacity`). A channel has those readings that its
    law allows: noise on integers has no capacity, a code's line no inversion.
    """

    @abstractmethod
    def send(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """Draws the output for each value sent; without a generator the noise comes from the cryptographic source."""

    @property
    @abstractmethod
    def epsilon(self) -> Fraction | float:
        """The privacy loss of one use, between the inputs that the channel is made for; math.inf where unbounded."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The law in JSON types; `channel_from_json` reads it back and checks it."""
