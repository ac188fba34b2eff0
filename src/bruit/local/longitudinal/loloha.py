"""LOLOHA: longitudinal local hashing for answers that change often, as few buckets bound the loss over all reports."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bruit.channels import ONE, Support, checked_epsilon
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument
from bruit.local.categories import Categories, category_list
from bruit.local.frequencies import _hash_kernels
from bruit.local.frequencies.hashing import TOP, bucket_count, checked_hashed, collision
from bruit.local.longitudinal.memoised import SymmetricStages, series
from bruit.local.offering import EXAMPLE, Offer
from bruit.randomness import words


@dataclass(frozen=True, init=False, eq=False)
class LOLOHA(SymmetricStages):
    """Each client draws one permanent hash into g buckets, then runs longitudinal KRR on them. [Arcolezi et al. 2023]

    A client has at most g different memories, which cost at most g times `forever` together, however many answers it
    has held; with g = 2 that is least, with more buckets the error. Which of its reports came from one memory is not
    hidden: where answers change, two people differ in that too (`after_changes`).
    """

    offer: ClassVar[Offer | None] = Offer(
        lambda epsilon: LOLOHA(EXAMPLE, epsilon=epsilon, forever=2 * exactly(epsilon, "epsilon"))
    )

    buckets: int

    def __init__(
        self, categories: Categories, *, epsilon: Exact, forever: Exact, buckets: int = 2, other: bool = False
    ) -> None:
        allowed, once, always = (
            category_list(categories, other=other),
            checked_epsilon(epsilon),
            checked_epsilon(forever),
        )
        if once >= always:
            raise InvalidArgument(f"epsilon={epsilon} of one report must be below forever={forever} of all reports")
        chosen = bucket_count(buckets, always, len(allowed))
        self._fix(categories=allowed, epsilon=once, forever=always, buckets=chosen)
        self._prove(gap=self._gap)

    @property
    def states(self) -> int:
        """The number of buckets: a client memoises one response per bucket, not per answer."""
        return self.buckets

    @cached_property
    def support(self) -> Support:
        """Probabilities that the true category, and a given other one, hash into the reported bucket."""
        keep, moved = (weight / ONE**2 for weight in series(self.permanent, self.instantaneous))
        return Support(keep, moved + (keep - moved) * collision(self.buckets))

    def hashed(self, places: NDArray[np.int32], seeds: NDArray[np.uint64]) -> NDArray[np.int32]:
        """The bucket of each answer under its client's hash; a seed holds the hash's a and b in its two halves."""
        a, b = seeds & np.uint64(0xFFFFFFFF), seeds >> np.uint64(32)
        x = (a * places.astype(np.uint64) + b) & np.uint64(0xFFFFFFFF)
        return (((x >> np.uint64(16)) * np.uint64(self.buckets)) >> np.uint64(16)).astype(np.int32)

    def memoise(self, places: NDArray[np.int32], *, rng: np.random.Generator) -> NDArray[np.uint32]:
        """A new client's random hash for each answer, with the permanent response to the answer's bucket."""
        seeds = words(rng, len(places))
        kept = self.permanent.send(self.hashed(places, seeds), rng=rng)
        return np.column_stack([seeds & np.uint64(0xFFFFFFFF), seeds >> np.uint64(32), kept]).astype(np.uint32)

    def respond(self, memoised: NDArray[Any], *, rng: np.random.Generator) -> NDArray[np.uint32]:
        """A report with the same hash and a fresh noised version of the memoised bucket."""
        report = memoised.copy()
        report[:, 2] = self.instantaneous.send(memoised[:, 2].astype(np.int32), rng=rng)
        return report

    def _check(self, values: NDArray[Any]) -> NDArray[Any]:
        return checked_hashed(values, self.buckets)

    def _count(self, values: NDArray[Any]) -> NDArray[np.int64]:
        counts = np.zeros(len(self.categories), np.int32)
        _hash_kernels.count_hashed(values, self.buckets, counts)
        return counts.astype(np.int64)

    def settings(self) -> dict[str, Any]:
        """The epsilon of one report and of all reports, and the number of buckets, in JSON types."""
        return {**super().settings(), "buckets": self.buckets}

    def law(self) -> dict[str, Any]:
        """The weights of the two channels, and the hash, in JSON types."""
        return {**super().law(), "hash": f"((a*v + b) mod 2^32 >>> 16) * buckets >>> 16, {TOP} values"}
