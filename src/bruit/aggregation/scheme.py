"""Prio3: splits answers into shares, verifies without reading them that they are allowed, and sums them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bruit.aggregation import _kernels
from bruit.aggregation.circuits import Circuit, Layout
from bruit.aggregation.fields import FIELD128, PrimeField, integers, pair, pairs
from bruit.errors import InvalidArgument
from bruit.randomness import words

Bytes = NDArray[np.uint8]
"""One report a row."""

VERSION: Final = 18
"""The wire version that draft 20 of the specification states; drafts before 18 have other proofs."""
NONCE, KEY, SEED = 16, 32, _kernels.SEED
"""Bytes of a nonce, a verification key and a seed."""
MOST_SHARES: Final = 255


@dataclass(frozen=True)
class SplitReports:
    """Secret-shared reports: `shares[a]` holds collector a's share of each, beside the reports' nonces."""

    nonces: Bytes
    public: Bytes
    shares: tuple[Bytes, ...]

    def __len__(self) -> int:
        return len(self.nonces)


@dataclass(frozen=True)
class Verification:
    """One collector's results for its shares: `outputs` to be summed, `verifiers` for the other collectors.

    `readable` is False where a share is no row of field elements, or the random point of its check is not usable.
    """

    outputs: NDArray[np.uint64]
    seeds: Bytes
    verifiers: Bytes
    readable: NDArray[np.bool_]


@dataclass(frozen=True)
class Prio3:
    """A Prio3 instance: a circuit of allowed answers, a number of collectors, and a context.

    The context binds everything that the collectors agreed on before; reports of another context are refused.
    `proofs`, `field` and `identifier` differ from the circuit's own only in the specification's test circuit.
    Experimental: not reviewed from outside.                                    [draft-irtf-cfrg-vdaf-20, section 7]

    >>> from bruit.aggregation import HistogramCircuit
    >>> scheme = Prio3(HistogramCircuit(length=3, chunk=2), context=b"a poll")
    >>> reports = scheme.shard([2, 0, 2, 1, 2])
    >>> key = np.zeros(32, np.uint8)
    >>> first, second = (scheme.verify(key, a, reports.nonces, reports.public, reports.shares[a]) for a in (0, 1))
    >>> accepted = scheme.accept((first, second))
    >>> scheme.unshard([scheme.aggregate(one.outputs, accepted) for one in (first, second)])
    (1, 1, 3)
    """

    circuit: Circuit
    context: bytes
    shares: int = 2
    proofs: int = 1
    field: PrimeField | None = None
    identifier: int | None = None

    def __post_init__(self) -> None:
        if not 2 <= self.shares <= MOST_SHARES or not 1 <= self.proofs <= MOST_SHARES:
            raise InvalidArgument(f"shares={self.shares}, proofs={self.proofs}: give 2 to 255 shares, 1 to 255 proofs")
        if len(self.context) > 2**16 - 9:
            raise InvalidArgument("the context is longer than 65 527 bytes; give a digest of it")

    # ------------------------------------------------------------ sizes
    @property
    def elements(self) -> PrimeField:
        """The prime field of the shares."""
        return self.field or self.circuit.field

    @property
    def joint(self) -> bool:
        """Whether the proof uses joint randomness, so that reports have a public share."""
        return self.layout.joint > 0

    @property
    def rand_size(self) -> int:
        """The number of random bytes needed to split one answer."""
        return SEED * self.shares * (2 if self.joint else 1)

    @property
    def public_size(self) -> int:
        """The size in bytes of the public share."""
        return SEED * self.shares if self.joint else 0

    def share_size(self, aggregator: int) -> int:
        """The size in bytes of a collector's share: elements for the first, a seed for others, plus any blind."""
        seeds = SEED if self.joint else 0
        if aggregator:
            return SEED + seeds
        return (self.circuit.inputs + self.layout.proof_length * self.proofs) * self.elements.size + seeds

    @property
    def verifier_size(self) -> int:
        """The number of bytes that a collector sends to the others per report."""
        return (self.circuit.arity + 2) * self.elements.size * self.proofs + (SEED if self.joint else 0)

    @cached_property
    def layout(self) -> Layout:
        """The circuit's numbers and constants as the compiled kernels read them."""
        circuit, field = self.circuit, self.elements
        points = 1 << circuit.calls.bit_length()
        root, checked = field.root(2 * points), circuit.outputs_checked
        weights = [field.montgomery(weight) for weight in circuit.weights]
        roots = [field.montgomery(pow(root, i, field.modulus)) for i in range(2 * points)]
        return Layout(
            kind=circuit.kind,
            wide=field is FIELD128,
            shares=self.shares,
            proofs=self.proofs,
            inputs=circuit.inputs,
            length=circuit.outputs,
            width=circuit.width,
            calls=circuit.calls,
            arity=circuit.arity,
            points=points,
            joint=circuit.calls if circuit.kind > _kernels.SUM else 0,
            outputs_checked=checked,
            query=1 + (checked if checked > 1 else 0),
            proof_length=circuit.arity + 2 * points - 1,
            p=field.words,
            one=pair(field.montgomery(1)),
            square=pair(field.montgomery(2**128)),
            over_n=pair(field.montgomery(field.inverse(points))),
            over_2n=pair(field.montgomery(field.inverse(2 * points))),
            share_inverse=pair(field.inverse(self.shares)),
            weights=pairs(weights),
            roots=pairs(roots),
            prefix=np.array([list(self._prefix(usage)) for usage in range(8)], np.uint8),
        )

    def _prefix(self, usage: int) -> bytes:
        """The length-prefixed domain separation tag, and the length of the seed [section 6.2.1, 7.2]."""
        identifier = self.circuit.kind if self.identifier is None else self.identifier
        tag = bytes([VERSION, 0]) + identifier.to_bytes(4, "big") + usage.to_bytes(2, "big") + self.context
        return len(tag).to_bytes(2, "little") + tag + bytes([SEED])

    # ------------------------------------------------------------ the participant
    def shard(
        self, answers: ArrayLike, *, nonces: Bytes | None = None, rng: np.random.Generator | None = None
    ) -> SplitReports:
        """Splits answers into shares, each of which alone is uniformly random."""
        bits = self.circuit.encode(answers)
        measurements = np.zeros((*bits.shape, 2), np.uint64)
        measurements[..., 0] = bits
        count = len(bits)
        drawn = random_bytes(count, NONCE, rng) if nonces is None else nonces
        return self.shard_encoded(measurements, drawn, random_bytes(count, self.rand_size, rng))

    def shard_encoded(self, measurements: NDArray[np.uint64], nonces: Bytes, rand: Bytes) -> SplitReports:
        """Splits field elements [answer, input, 2], valid or not, with the given nonces and random bytes."""
        count = len(measurements)
        public = np.zeros((count, self.public_size), np.uint8)
        leader = np.zeros((count, self.share_size(0)), np.uint8)
        helpers = np.zeros((count, self.shares - 1, self.share_size(1)), np.uint8)
        _kernels.shard_all(self.layout, measurements, _plain(nonces), _plain(rand), public, leader, helpers)
        others = (np.ascontiguousarray(helpers[:, a]) for a in range(self.shares - 1))
        return SplitReports(nonces, public, (leader, *others))

    # ------------------------------------------------------------ a collector
    def verify(self, key: Bytes, aggregator: int, nonces: Bytes, public: Bytes, shares: Bytes) -> Verification:
        """Computes one collector's part of the check of each report, which alone reveals nothing of an answer."""
        count = len(nonces)
        expected = {"nonces": NONCE, "public": self.public_size, "shares": self.share_size(aggregator)}
        for (name, size), rows in zip(expected.items(), (nonces, public, shares), strict=True):
            if rows.shape != (count, size):
                raise InvalidArgument(f"{name} have shape {rows.shape}; expected {count} rows of {size} bytes")
        if key.shape != (KEY,):
            raise InvalidArgument(f"a verification key has {KEY} bytes, not {key.shape}")
        outputs = np.zeros((count, self.circuit.outputs, 2), np.uint64)
        seeds, verifiers = np.zeros((count, SEED), np.uint8), np.zeros((count, self.verifier_size), np.uint8)
        given = [_plain(each) for each in (key, nonces, public, shares)]
        out = (outputs, seeds, verifiers)
        readable = _kernels.verify_all(self.layout, given[0], aggregator, given[1], given[2], given[3], out)
        return Verification(outputs, seeds, verifiers, readable)

    def decide(self, verifiers: Sequence[Bytes]) -> tuple[NDArray[np.bool_], Bytes]:
        """From all collectors' verifiers: whether each proof holds, and the joint seed every collector must have."""
        together = np.stack([np.ascontiguousarray(each) for each in verifiers])
        if together.shape[::2] != (self.shares, self.verifier_size):
            raise InvalidArgument(
                f"verifiers have shape {together.shape}; expected {self.shares} collectors, any number of reports and "
                f"{self.verifier_size} bytes each"
            )
        seeds = np.zeros((together.shape[1], SEED), np.uint8)
        return _kernels.decide_all(self.layout, together, seeds), seeds

    def confirm(self, own: Verification, verifiers: Sequence[Bytes]) -> NDArray[np.bool_]:
        """Which reports this collector accepts; a report counts only if all collectors accept it."""
        holds, seeds = self.decide(verifiers)
        same = (own.seeds == seeds).all(axis=1) if self.joint else True
        return np.asarray(holds & own.readable & same, np.bool_)

    def accept(self, verifications: Sequence[Verification]) -> NDArray[np.bool_]:
        """Which reports count, from the verifications of all collectors in one place."""
        verifiers = [each.verifiers for each in verifications]
        return np.asarray(np.all([self.confirm(each, verifiers) for each in verifications], axis=0), np.bool_)

    def aggregate(self, outputs: NDArray[np.uint64], accepted: NDArray[np.bool_]) -> tuple[int, ...]:
        """A collector's share of the sum of the accepted reports, as field elements."""
        total = np.zeros(outputs.shape[1:], np.uint64)
        _kernels.sum_rows(outputs, accepted, self.layout.p, total)
        return integers(total)

    def add(self, *totals: Sequence[int]) -> tuple[int, ...]:
        """Adds totals in the field; noise may be added as negative numbers."""
        return tuple(sum(values) % self.elements.modulus for values in zip(*totals, strict=True))

    def unshard(self, totals: Sequence[Sequence[int]]) -> tuple[int, ...]:
        """Recombines the collectors' totals into the signed sums."""
        return tuple(self.elements.signed(value) for value in self.add(*totals))


def random_bytes(count: int, size: int, rng: np.random.Generator | None) -> Bytes:
    """`count` rows of random bytes."""
    needed = -(-count * size // 8)
    return words(rng, needed).view(np.uint8)[: count * size].reshape(count, size)


def _plain(rows: Bytes) -> Bytes:
    """The same bytes in the one layout that the kernels are compiled for: contiguous and writable."""
    return np.require(rows, np.uint8, ["C", "W"])
