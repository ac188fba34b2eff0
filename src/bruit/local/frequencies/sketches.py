"""Sketches: very many categories counted in little memory, as deployed by Apple."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels import ONE, Support, SymmetricChannel, checked_epsilon, symmetric
from bruit.core.arguments import whole
from bruit.core.intervals import Covers, Interval
from bruit.core.numbers import Exact
from bruit.core.release import Release
from bruit.errors import InvalidArgument
from bruit.local.categories import Categories, CategoryList, category_list
from bruit.local.estimation.estimate import Adjustment, Method
from bruit.local.forecasts import two_sided
from bruit.local.frequencies import bits
from bruit.local.frequencies.hadamard import transformed
from bruit.local.frequencies.unary import symmetric_weights
from bruit.local.frequency_protocol import FrequencyProtocol
from bruit.local.offering import EXAMPLE, Offer
from bruit.local.rappor import bloom
from bruit.local.received import checked_bits
from bruit.local.tally import Tally
from bruit.randomness import bernoulli, uniform_below


@dataclass(frozen=True, init=False, eq=False)
class Sketch(FrequencyProtocol):
    """A respondent draws one of `hashes` public hashes and sends the answer's hash, below `width`, noised.

    Two answers share a place of a random hash with chance 1 / width, so a wrong answer is supported with chance
    q + (p - q) / width. That is the mean over families of hashes: within one family a category is biased by the few it
    collides with, the less the more hashes there are. `family` numbers the family.                       [Apple 2017]

    Over families that bias has mean zero and variance sum of f_u^2 over the other categories / (hashes (width - 1)),
    however many people answer: the share of hashes under which two categories meet is binomial / hashes. Intervals
    are widened by its normal half-width and marked approximate.
    """

    categories: CategoryList
    epsilon: Fraction
    hashes: int
    width: int
    family: int

    def __init__(
        self,
        categories: Categories,
        *,
        epsilon: Exact,
        hashes: int = 1024,
        width: int = 256,
        family: int = 0,
        other: bool = False,
    ) -> None:
        hashes, width = whole(hashes, "hashes", least=2, most=1 << 16), whole(width, "width", least=2, most=1 << 20)
        allowed, amount = category_list(categories, other=other), checked_epsilon(epsilon)
        self._fix(categories=allowed, epsilon=amount, hashes=hashes, width=width, family=family)
        self._prove(gap=self._gap)

    @cached_property
    def places(self) -> NDArray[np.int32]:
        """The hash value of each category under each hash: (categories, hashes)."""
        texts = [f"{self.family}:{label}" for label in self.categories.labels]
        return bloom.candidate_places(texts, cohorts=self.hashes, hashes=1, bits=self.width)[:, :, 0]

    @property
    @abstractmethod
    def _chances(self) -> tuple[float, float]:
        """How often a report supports a place that is the answer's, and one that is not."""

    @property
    @abstractmethod
    def _gap(self) -> int:
        """By how much the weight of a report that supports the answer's place exceeds that of another."""

    @cached_property
    def support(self) -> Support:
        """Probabilities that a report supports the true category, and a given other one (hash collisions included)."""
        true, false = self._chances
        return Support(true, false + (true - false) / self.width)

    def collision_deviation(self, shares: NDArray[np.float64]) -> NDArray[np.float64]:
        """The standard deviation that hash collisions add to each category's share, for the given shares of all."""
        squares = np.asarray(shares, float) ** 2
        return np.asarray(np.sqrt((squares.sum() - squares) / (self.hashes * (self.width - 1))))

    def estimate(
        self,
        tally: Tally,
        confidence: float = 0.95,
        *,
        covers: Covers = Covers.POPULATION,
        method: Method = "exact",
        joint: bool = False,
        adjust: Adjustment = "none",
    ) -> Release[NDArray[np.float64]]:
        """The share of each category, with intervals widened for the collisions of this hash family."""
        plain = super().estimate(tally, confidence, covers=covers, method=method, joint=joint, adjust=adjust)
        raw = plain.details["raw"]
        each = 1 - (1 - confidence) / len(raw) if joint else confidence
        collisions = self.collision_deviation(np.clip(raw, 0, 1))
        low, high = (plain.details[end] for end in ("raw_low", "raw_high"))
        low, high = low - two_sided(each) * collisions, high + two_sided(each) * collisions
        error = np.hypot(plain.details["standard_error"], collisions)
        ends = {"raw_low": low, "raw_high": high, "standard_error": error}
        details = {**plain.details, **ends, "collisions": collisions, "approximate": True}
        interval = Interval(np.clip(low, 0, 1), np.clip(high, 0, 1), confidence, covers, joint)
        return replace(plain, interval=interval, details=details)

    def expected_error(self, people: int, *, share: float | None = None, confidence: float = 0.95) -> float:
        """The half-width of the interval of one share, with the worst-case error from hash collisions added."""
        others = 1.0 if share is None else 1 - share
        plain = super().expected_error(people, share=share, confidence=confidence)
        return plain + two_sided(confidence) * others / math.sqrt(self.hashes * (self.width - 1))

    def settings(self) -> dict[str, Any]:
        """The epsilon asked for and the shape of the sketch."""
        shape = {"hashes": self.hashes, "width": self.width, "family": self.family}
        return {"epsilon": str(self.epsilon), **shape}

    def _hash(self, values: NDArray[Any]) -> NDArray[Any]:
        if values.size and values[:, 0].max() >= self.hashes:
            raise InvalidArgument(f"a report of this protocol names one of {self.hashes} hashes first")
        return values

    def _gathered(self, supported: NDArray[np.int64]) -> NDArray[np.int64]:
        """From the support of each place under each hash (hashes, width) to that of each category."""
        return np.asarray(supported[np.arange(self.hashes), self.places].sum(axis=1))


class CountMeanSketch(Sketch):
    """Sends the one-hot vector of the answer's hash, every bit through symmetric noise of epsilon / 2."""

    offer: ClassVar[Offer | None] = Offer(lambda epsilon: CountMeanSketch(EXAMPLE, epsilon=epsilon, hashes=2, width=4))

    @cached_property
    def weights(self) -> tuple[int, int]:
        """The weights, out of 2^52, of a one at the answer's hash and at another."""
        return symmetric_weights(self.epsilon)[0]

    @cached_property
    def loss(self) -> Fraction:
        """Twice the privacy loss of one bit, as two answers differ in two bits; rounded up."""
        return symmetric_weights(self.epsilon)[1]

    @property
    def _chances(self) -> tuple[float, float]:
        return self.weights[0] / ONE, self.weights[1] / ONE

    @property
    def _gap(self) -> int:
        return self.weights[0] - self.weights[1]

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.uint64]:
        drawn = uniform_below(self.hashes, len(places), rng=rng).astype(np.int64)
        true, false = self.weights
        rows = bits.noisy_positions(self.places[places, drawn], self.width, true=true, false=false, rng=rng)
        return np.column_stack([drawn.astype(np.uint64), rows])

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        if values.size == 0:
            return np.zeros((0, 1 + bits.words_for(self.width)), np.uint64)
        if values.ndim != 2 or values.dtype != np.uint64:
            raise InvalidArgument("a report of this protocol is a row of uint64: a hash, then packed bits")
        checked_bits(values[:, 1:], self.width)
        return self._hash(values)

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        order = np.argsort(values[:, 0], kind="stable")
        edges = np.searchsorted(values[order, 0], np.arange(self.hashes + 1, dtype=np.uint64))
        supported = np.zeros((self.hashes, self.width), np.int64)
        for drawn in np.flatnonzero(np.diff(edges)):
            rows = np.ascontiguousarray(values[order[edges[drawn] : edges[drawn + 1]], 1:])
            supported[drawn] = bits.ones(rows, self.width)
        return self._gathered(supported)

    def law(self) -> dict[str, Any]:
        """The law of the noise in JSON types: how often a bit is sent as 1, out of 2^52."""
        return {"out_of": ONE, "true": self.weights[0], "false": self.weights[1]}


class HadamardSketch(Sketch):
    """Sends one random entry of the Hadamard transform of the answer's hash: hash number, column, noised sign bit."""

    offer: ClassVar[Offer | None] = Offer(lambda epsilon: HadamardSketch(EXAMPLE, epsilon=epsilon, hashes=2, width=4))

    def __init__(
        self,
        categories: Categories,
        *,
        epsilon: Exact,
        hashes: int = 1024,
        width: int = 256,
        family: int = 0,
        other: bool = False,
    ) -> None:
        if isinstance(width, int) and width & (width - 1):
            raise InvalidArgument(f"width={width} must be a power of two: the order of a Hadamard matrix")
        super().__init__(categories, epsilon=epsilon, hashes=hashes, width=width, family=family, other=other)

    @cached_property
    def coin(self) -> SymmetricChannel:
        """The binary channel that decides whether the true sign is sent."""
        return symmetric(2, epsilon=self.epsilon)

    @property
    def loss(self) -> Fraction | float:
        """The privacy loss of the coin, since hash and column do not depend on the answer."""
        return self.coin.epsilon

    @property
    def _chances(self) -> tuple[float, float]:
        return self.coin.keep / ONE, 0.5

    @property
    def _gap(self) -> int:
        return self.coin.keep - self.coin.other

    def _report(self, places: NDArray[np.int32], rng: np.random.Generator) -> NDArray[np.int32]:
        drawn = uniform_below(self.hashes, len(places), rng=rng).astype(np.int64)
        column = uniform_below(self.width, len(places), rng=rng).astype(np.int64)
        sign = np.bitwise_count(self.places[places, drawn] & column) & 1
        lie = bernoulli(self.coin.other, len(places), rng=rng)
        return np.column_stack([drawn, column, sign ^ lie]).astype(np.int32)

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        if values.size == 0:
            return np.zeros((0, 3), np.int32)
        good = values.ndim == 2 and values.shape[1] == 3 and values.dtype.kind in "iu" and values.min() >= 0
        if not good or values[:, 1].max() >= self.width or values[:, 2].max() > 1:
            raise InvalidArgument(f"a report of this protocol is a hash, a column below {self.width} and a bit")
        return self._hash(values)

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        signed = np.zeros((self.hashes, self.width), np.int64)
        np.add.at(signed, (values[:, 0], values[:, 1]), 1 - 2 * values[:, 2].astype(np.int64))
        answered = np.bincount(values[:, 0], minlength=self.hashes)
        agreeing = np.stack([transformed(row) for row in signed])
        return self._gathered((answered[:, None] + agreeing) // 2)

    def law(self) -> dict[str, Any]:
        """The weights of the coin, in JSON types."""
        return self.coin.to_json()
