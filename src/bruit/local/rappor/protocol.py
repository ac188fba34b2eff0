"""The RAPPOR protocol: repeated collection of texts from many respondents as noised Bloom filters."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isinf
from typing import Any, ClassVar

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from bruit.core.arguments import whole
from bruit.core.losses import Pure
from bruit.core.neighbours import LOCAL
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument, NotPrivate
from bruit.local.frequencies import bits as packed
from bruit.local.offering import Offer, ReportShape
from bruit.local.protocol import LocalProtocol
from bruit.local.rappor import bloom
from bruit.local.rappor.law import RapporLaw, optimal_f
from bruit.local.rappor.tally import RapporReports, RapporTally
from bruit.local.received import checked_bits
from bruit.randomness import generator, is_strong, uniform_below


@dataclass(frozen=True, init=False)
class Rappor(LocalProtocol):
    """RAPPOR with a Bloom filter of `bits` bits and `hashes` hashes, in `cohorts` cohorts, at noise f, p, q.

    A value sets h bits of the filter of its respondent's cohort; each bit passes the permanent noise once and the
    instantaneous one in every report. p=0, q=1 is the one-time variant; `BasicRappor` gives each category its own bit.
    A respondent who reports c different values has spent up to c times `law.forever` on which they are; when they
    changed is not hidden. One who uses several devices is several respondents.              [docs/spec.md S2.18, S2.21]
    """

    offer: ClassVar[Offer | None] = Offer(
        lambda epsilon: Rappor(bits=32, hashes=2, cohorts=1, f=optimal_f(exactly(epsilon, "epsilon"), 2)),
        report=ReportShape.COHORT_BITS,
    )

    bits: int
    cohorts: int
    law: RapporLaw

    def __init__(self, *, bits: int, hashes: int, cohorts: int, f: Exact, p: Exact = 0, q: Exact = 1) -> None:
        for name, value, least, most in (
            ("bits", bits, 2, 1 << 20),
            ("hashes", hashes, 1, 64),
            ("cohorts", cohorts, 1, 1 << 20),
        ):
            whole(value, name, least=least, most=most)
        law = RapporLaw(f=f, p=p, q=q, hashes=int(hashes))
        for name, part in {"bits": int(bits), "cohorts": int(cohorts), "law": law, "epsilon": law.once}.items():
            object.__setattr__(self, name, part)

    @property
    def hashes(self) -> int:
        """How many bits one value sets."""
        return self.law.hashes

    def filters(self, values: Iterable[Any], cohorts: NDArray[np.int32]) -> NDArray[np.uint64]:
        """The Bloom filter of each value in its cohort, before all noise."""
        texts = values.to_list() if isinstance(values, polars.Series) else list(values)
        places = bloom.places(bloom.digests(texts), cohorts, hashes=self.hashes, bits=self.bits)
        return bloom.filters(places, self.bits)

    def randomise(
        self,
        values: Iterable[Any],
        *,
        cohorts: ArrayLike | None = None,
        rng: np.random.Generator | None = None,
    ) -> RapporReports:
        """The first report of a new respondent for each value; a returning respondent uses `RapporClient`."""
        texts = values.to_list() if isinstance(values, polars.Series) else list(values)
        source = generator(rng)
        group = self._cohorts(cohorts, len(texts), source)
        reports = self.respond(self.memoise(self.filters(texts, group), rng=source), rng=source)
        return RapporReports(self, group, reports, seeded=not is_strong(rng))

    def memoise(self, filters: NDArray[np.uint64], *, rng: np.random.Generator | None = None) -> NDArray[np.uint64]:
        """The permanent response to each filter; a client draws it once for each value and keeps it."""
        return packed.through(self.law.permanent, filters, self.bits, generator(rng))

    def respond(self, memoised: NDArray[np.uint64], *, rng: np.random.Generator | None = None) -> NDArray[np.uint64]:
        """A fresh report of memoised bits."""
        return (
            memoised
            if self.law.one_time
            else packed.through(self.law.instantaneous, memoised, self.bits, generator(rng))
        )

    def tally(self, reports: RapporReports) -> RapporTally:
        """How many reports of each cohort have each bit set, as a `RapporTally`."""
        if reports.protocol != self:
            raise InvalidArgument("these reports followed another protocol; tally them with the protocol they carry")
        values = checked_bits(reports.values, self.bits)
        group = np.asarray(reports.cohorts)
        whole = group.size == 0 or (group.dtype.kind in "iu" and group.min() >= 0 and group.max() < self.cohorts)
        if group.shape != (len(values),) or not whole:
            raise InvalidArgument(f"each report names its cohort, a whole number from 0 to {self.cohorts - 1}")
        order = np.argsort(group, kind="stable")
        edges = np.searchsorted(group[order], np.arange(self.cohorts + 1))
        counts = np.stack([packed.ones(values[order[a:b]], self.bits) for a, b in pairwise(edges)])
        sizes = np.diff(edges)
        rounds = (*[(0,) * self.cohorts] * (reports.round - 1), tuple(sizes.tolist()))
        return RapporTally(self, sizes, counts, reports.seeded, rounds)

    def privacy(self, *, values: int = 1) -> Pure:
        """The privacy loss of a respondent who reports `values` different values, each any number of times.

        It is of which values they are: against any others that changed, and came back, at the same times.
        """
        return Pure(_finite(self.law) * whole(values, "values"), neighbours=LOCAL)

    def to_json(self) -> dict[str, Any]:
        """All settings needed to recreate this protocol, with its weights, in JSON types."""
        return {
            "protocol": "Rappor",
            "version": 1,
            "bits": self.bits,
            "cohorts": self.cohorts,
            "law": self.law.to_json(),
        }

    @classmethod
    def _from_json(cls, block: Mapping[str, Any]) -> Rappor:
        noise = {name: block["law"][name] for name in ("f", "p", "q", "hashes")}
        return cls(bits=block["bits"], cohorts=block["cohorts"], **noise)

    def tally_of(
        self, counts: ArrayLike, people: ArrayLike, *, seeded: bool = False, rounds: Sequence[Sequence[int]] = ()
    ) -> RapporTally:
        """A tally from the number of people in each cohort and the count of ones at each of its bits."""
        ones, sizes = np.array(counts, dtype=np.int64), np.array(people, dtype=np.int64)
        fits = sizes.shape == (self.cohorts,) and ones.shape == (self.cohorts, self.bits)
        if not fits or (ones < 0).any() or (ones > sizes[:, None]).any():
            raise InvalidArgument("each bit of a cohort is one in none of its reports, in all, or in some")
        return RapporTally(self, sizes, ones, seeded, tuple(map(tuple, rounds)))

    def _cohorts(self, asked: ArrayLike | None, size: int, rng: np.random.Generator) -> NDArray[np.int32]:
        if asked is None:
            return uniform_below(self.cohorts, size, rng=rng).astype(np.int32)
        group = np.asarray(asked, dtype=np.int32)
        if group.shape != (size,) or (size and (group.min() < 0 or group.max() >= self.cohorts)):
            raise InvalidArgument(f"cohorts= needs one whole number from 0 to {self.cohorts - 1} for each value")
        return group


def _finite(law: RapporLaw) -> Any:
    if isinf(law.forever):
        raise NotPrivate("f=0 memoises the truth: many reports of one value tell it for certain; take f above 0")
    return law.forever
