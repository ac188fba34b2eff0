"""The root of every noise: a value goes in and comes out changed by a public law."""

from __future__ import annotations

from abc import ABC, abstractmethod
from fractions import Fraction
from typing import Any

import numpy as np


class Channel(ABC):
    """A noisy channel: a public law by which what is sent comes out changed.

    The law is read three ways: how well it hides a person (`epsilon`, or the `loss` that an accountant prices), how far
    it moves the truth (`half_width`, `unmix`), how much gets across (`capacity`). A channel has those readings that its
    law allows: noise on integers has no capacity, a code's line no inversion.
    """

    @abstractmethod
    def send(self, values: Any, rng: np.random.Generator | None = None) -> Any:
        """What comes out for what is sent; without a generator the noise is of the strong source."""

    @property
    @abstractmethod
    def epsilon(self) -> Fraction | float:
        """The privacy loss of one use, between inputs that the law is made for; math.inf where no number bounds it."""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """The law in JSON types; `channel_from_json` reads it back and checks it."""
