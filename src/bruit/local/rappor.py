"""RAPPOR, collecting: texts from many respondents, over and over, without learning any of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from math import isinf
from typing import Any

import numpy as np
import polars
from numpy.typing import ArrayLike, NDArray

from bruit.errors import BadFile, BruitError, InvalidArgument, NotPrivate
from bruit.local import bits as packed
from bruit.local import bloom
from bruit.local.checking import checked_bits, checked_flag
from bruit.local.rappor_law import RapporLaw
from bruit.privacy import LOCAL, Exact, Pure
from bruit.randomness import generator, is_strong, uniform_below


@dataclass(frozen=True)
class RapporReports:
    """One row a report: its respondent's cohort and the noised bits, packed in words of 64."""

    protocol: Rappor
    cohorts: NDArray[np.int32]
    values: NDArray[np.uint64]
    seeded: bool = False

    def __len__(self) -> int:
        return len(self.values)


@dataclass(frozen=True, eq=False)
class RapporTally:
    """How many reports of each cohort have each bit set, and how many each cohort sent; `+` merges two."""

    protocol: Rappor
    answers: NDArray[np.int64]
    counts: NDArray[np.int64]
    seeded: bool = False

    def __add__(self, other: RapporTally) -> RapporTally:
        if not isinstance(other, RapporTally):
            return NotImplemented
        if self.protocol != other.protocol:
            raise InvalidArgument("two tallies can be added only when their reports followed the same protocol")
        seeded = self.seeded or other.seeded
        return RapporTally(self.protocol, self.answers + other.answers, self.counts + other.counts, seeded)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, RapporTally)
            and (self.protocol, self.seeded) == (other.protocol, other.seeded)
            and np.array_equal(self.answers, other.answers)
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def to_json(self) -> dict[str, Any]:
        """The tally in JSON types, with its protocol."""
        numbers = {"answers": self.answers.tolist(), "counts": self.counts.tolist()}
        return {"protocol": self.protocol.to_json(), **numbers, "seeded": self.seeded}


@dataclass(frozen=True, init=False)
class Rappor:
    """RAPPOR with a Bloom filter of `bits` bits and `hashes` hashes, in `cohorts` cohorts, at noise f, p, q.

    A value sets h bits of the filter of its respondent's cohort; each bit passes the permanent noise once and the
    instantaneous one in every report. p=0, q=1 is the one-time variant; `BasicRappor` gives each category its own bit.
    A respondent who reports c different values has spent up to c times `law.forever`, and one who uses several
    devices is several respondents to this count.                                                    [SPEC S2.18, S2.21]
    """

    bits: int
    cohorts: int
    law: RapporLaw

    def __init__(self, *, bits: int, hashes: int, cohorts: int, f: Exact, p: Exact = 0, q: Exact = 1) -> None:
        for name, value, least, most in (
            ("bits", bits, 2, 1 << 20),
            ("hashes", hashes, 1, 64),
            ("cohorts", cohorts, 1, 1 << 20),
        ):
            if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
                raise InvalidArgument(f"{name}={value!r} must be a whole number from {least} to {most}")
        for name, part in {"bits": bits, "cohorts": cohorts, "law": RapporLaw(f=f, p=p, q=q, hashes=hashes)}.items():
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
        rng: np.random.Generator | None = None,
        *,
        cohorts: ArrayLike | None = None,
    ) -> RapporReports:
        """The first report of as many new respondents as there are values; `RapporClient` is one who comes back."""
        texts = values.to_list() if isinstance(values, polars.Series) else list(values)
        source = generator(rng)
        group = self._cohorts(cohorts, len(texts), source)
        reports = self.respond(self.memoise(self.filters(texts, group), source), source)
        return RapporReports(self, group, reports, seeded=not is_strong(rng))

    def memoise(self, filters: NDArray[np.uint64], rng: np.random.Generator | None = None) -> NDArray[np.uint64]:
        """The permanent response to each filter; a client draws it once for each value and keeps it."""
        return packed.through(self.law.permanent, filters, self.bits, generator(rng))

    def respond(self, memoised: NDArray[np.uint64], rng: np.random.Generator | None = None) -> NDArray[np.uint64]:
        """A fresh report of memoised bits."""
        return (
            memoised
            if self.law.one_time
            else packed.through(self.law.instantaneous, memoised, self.bits, generator(rng))
        )

    def tally(self, reports: RapporReports) -> RapporTally:
        """How many reports of each cohort have each bit set."""
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
        return RapporTally(self, np.diff(edges), counts, reports.seeded)

    def privacy(self, *, values: int = 1) -> Pure:
        """The loss of a respondent who reports so many different values, each as often as wanted."""
        if isinstance(values, bool) or not isinstance(values, int) or values < 1:
            raise InvalidArgument(f"values={values!r} must be a whole number, at least 1")
        return Pure(_finite(self.law) * values, neighbours=LOCAL)

    def to_json(self) -> dict[str, Any]:
        """Everything that makes this protocol again, with its law, in JSON types."""
        return {
            "protocol": "Rappor",
            "version": 1,
            "bits": self.bits,
            "cohorts": self.cohorts,
            "law": self.law.to_json(),
        }

    def _cohorts(self, asked: ArrayLike | None, size: int, rng: np.random.Generator) -> NDArray[np.int32]:
        if asked is None:
            return uniform_below(self.cohorts, size, rng=rng).astype(np.int32)
        group = np.asarray(asked, dtype=np.int32)
        if group.shape != (size,) or (size and (group.min() < 0 or group.max() >= self.cohorts)):
            raise InvalidArgument(f"cohorts= needs one whole number from 0 to {self.cohorts - 1} for each value")
        return group


def rappor_from_json(description: dict[str, Any]) -> Rappor:
    """The protocol that `to_json` described: it is made again from its settings and must come out the same."""
    try:
        law = description["law"]
        settings = {name: law[name] for name in ("f", "p", "q", "hashes")}
        protocol = Rappor(bits=description["bits"], cohorts=description["cohorts"], **settings)
    except (BruitError, KeyError, TypeError, ValueError) as error:
        raise BadFile("this block describes no RAPPOR protocol: it was cut, or written by something else") from error
    if protocol.to_json() != description:
        raise BadFile("this protocol does not come out as the block says: a parameter was changed after it was written")
    return protocol


def rappor_tally_from_json(description: Mapping[str, Any]) -> RapporTally:
    """The tally that `to_json` described."""
    protocol = rappor_from_json(description.get("protocol", {}))
    try:
        answers, counts = (np.array(description[name], dtype=np.int64) for name in ("answers", "counts"))
        tally = RapporTally(protocol, answers, counts, checked_flag(description["seeded"]))
    except (BruitError, KeyError, TypeError, ValueError, OverflowError) as error:
        raise BadFile("this block describes no tally: it was cut, changed, or written by something else") from error
    fits = answers.shape == (protocol.cohorts,) and counts.shape == (protocol.cohorts, protocol.bits)
    if not fits or (counts < 0).any() or (counts > answers[:, None]).any():
        raise BadFile("this tally does not fit its own protocol: it was changed after it was written")
    return tally


def _finite(law: RapporLaw) -> Any:
    if isinf(law.forever):
        raise NotPrivate("f=0 memoises the truth: many reports of one value tell it for certain; take f above 0")
    return law.forever
