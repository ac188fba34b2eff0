"""One of two collectors: receives shares, verifies them with the other, charges, adds noise, publishes.

Every step reads what is on disk, writes once and can be repeated: after a kill at any point the same step is asked
again and gives the same bytes. The one random step, the noise, is kept by a write that succeeds only once.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Sequence
from functools import cached_property
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from bruit.aggregation.collecting.publication import book_of, charge_once, release_of
from bruit.aggregation.collecting.store import CollectorStore, Reception, Record, ReportRow, State
from bruit.aggregation.scheme import NONCE, Verification
from bruit.aggregation.tasks import Task, key_hash, task_from_text
from bruit.errors import InvalidArgument, ProtocolError

CHUNK: Final = 1000
"""Reports that are verified at once."""
SALT: Final = 32
LARGEST_TOTAL: Final = 2**63 - 1
"""No sum of allowed answers of 2^30 people, noise included, is larger."""


class Collector:
    """One collector's side of one task, over its own database; `role` 0 is the first collector, 1 the second.

    Experimental: not reviewed from outside.
    """

    def __init__(self, store: str, name: str, *, rng: np.random.Generator | None = None) -> None:
        self._url, self._store, self._rng = store, CollectorStore(store), rng
        record = self._store.record(name)
        if record is None:
            raise InvalidArgument("no such task stands at this collector")
        self.name, self.role = name, record.role
        self.task: Task = task_from_text(record.definition)

    @classmethod
    def create(
        cls, store: str, task: Task, *, role: int, key: bytes, rng: np.random.Generator | None = None
    ) -> Collector:
        """Registers a task; the verification key must have the hash that the task states."""
        if role not in (0, 1):
            raise InvalidArgument(f"role={role}: 0 is the first collector, 1 the second")
        if key_hash(key) != task.key_hash:
            raise InvalidArgument("this verification key is not the one that the task names")
        book_of(task, store)  # what a book refuses is refused before anybody answers
        CollectorStore(store).create(task.name, role, task.text, key)
        return cls(store, task.name, rng=rng)

    # ------------------------------------------------------------ what is known of it
    def read_record(self) -> Record:
        """Reads the task's record from disk."""
        found = self._store.record(self.name)
        if found is None:
            raise InvalidArgument("the task is not at this collector any more")
        return found

    @property
    def record(self) -> Record:
        """The task's record on disk."""
        return self.read_record()

    @property
    def state(self) -> State:
        """The current state of the task."""
        return self.record.state

    def require(self, *allowed: State) -> Record:
        """The task's record if its state is one of those given; else refuses the step as out of turn."""
        record = self.record
        if record.state not in allowed:
            wanted = " or ".join(allowed)
            raise ProtocolError(f"the task is {record.state}; this step needs it to be {wanted}")
        return record

    # ------------------------------------------------------------ reports
    def read_report(self, data: bytes) -> ReportRow:
        """Parses a participant's report at the first collector: its own part, and the part sealed for the second."""
        sizes = (*self.task.part_sizes(0), self.task.sealed_size)
        if len(data) != sum(sizes):
            raise ProtocolError(f"a report of {len(data)} bytes is cut or too long: expected {sum(sizes)}")
        ends = np.cumsum((0, *sizes)).tolist()
        return ReportRow(*(data[start:end] for start, end in pairwise(ends)))

    def receive(self, rows: Sequence[ReportRow]) -> list[Reception]:
        """Stores reports on disk, then says for each whether it was accepted."""
        sizes = self.task.part_sizes(self.role)
        for row in rows:
            if tuple(map(len, row[:4])) != sizes:
                raise ProtocolError(f"a report's parts have {[len(part) for part in row[:4]]} bytes, not {list(sizes)}")
        return self._store.add(self.name, rows)

    def close(self) -> None:
        """Stops accepting reports; every report accepted before is on disk."""
        self._store.close(self.name)

    def page(self, after: bytes, limit: int) -> list[ReportRow]:
        """The next reports of a closed task in order of nonce, for the second collector to fetch."""
        self.require(State.CLOSED, State.MATCHED)
        return self._store.page(self.name, after, limit)

    # ------------------------------------------------------------ the batch
    def nonces(self) -> bytes:
        """The sorted nonces of the reports of a closed task."""
        self.require(State.CLOSED, State.MATCHED)
        return b"".join(self._store.nonces(self.name))

    @property
    def batch(self) -> bytes:
        """The sorted nonces of the reports that both collectors hold, once that set is fixed."""
        return self._store.blob(self.name, "batch")

    def match(self, theirs: bytes, *, final: bool = False) -> None:
        """Fixes the batch as the reports that both hold; with `final`, the other's batch must be held here whole."""
        if self.state is not State.CLOSED:
            self._require_after(State.CLOSED)
            return
        other = _split_nonces(theirs)
        own = set(self._store.nonces(self.name))
        both = sorted(own.intersection(other))
        if final and len(both) != len(other):
            raise ProtocolError("the other collector counts reports that this one never got; nothing was verified")
        if len(both) < self.task.least_batch:
            self._store.end(self.name, State.CLOSED, State.TOO_FEW, batch=b"".join(both))
        else:
            self._store.fix_batch(self.name, b"".join(both), sorted(own.difference(both)))

    # ------------------------------------------------------------ verification
    @property
    def chunks(self) -> int:
        """The number of chunks in which the batch is verified."""
        return -(-len(self.batch) // (NONCE * CHUNK))

    @cached_property
    def _key(self) -> NDArray[np.uint8]:
        return np.frombuffer(self.record.key, np.uint8)

    def _verify(self, number: int) -> Verification:
        """The own check of one chunk: a function of what is on disk, so the same whenever it is computed."""
        chosen = self.batch[number * NONCE * CHUNK : (number + 1) * NONCE * CHUNK]
        if not chosen:
            raise ProtocolError(f"the batch has {self.chunks} chunks; there is none of number {number}")
        rows = self._store.between(self.name, chosen[:NONCE], chosen[-NONCE:])
        if b"".join(row.nonce for row in rows) != chosen:
            raise ProtocolError("reports of the batch are missing on this disk; no result can be made")
        nonces, _, public, shares, _ = (_rows(column) for column in zip(*rows, strict=True))
        return self.task.scheme.verify(self._key, self.role, nonces, public, shares)

    def undecided(self) -> list[int]:
        """The chunks without a stored decision; the protocol goes on once there are none."""
        found = self._store.checks(self.name)
        return [number for number in range(self.chunks) if number not in found]

    def verifiers(self, number: int) -> bytes:
        """The message that lets the other collector decide on a chunk: readable reports, and verifier shares."""
        self.require(State.MATCHED)
        return _message(self._verify(number))

    def check(self, number: int, theirs: bytes) -> bytes:
        """Decides on a chunk from the other's verifier shares and returns its own; a stored decision stays."""
        self.require(State.MATCHED)
        own = self._verify(number)
        count, size = own.verifiers.shape
        flags = -(-count // 8)
        if len(theirs) != flags + count * size:
            raise ProtocolError(
                f"verifiers of {len(theirs)} bytes are cut or too long: expected {flags + count * size}"
            )
        readable = _unpack(theirs[:flags], count)
        other = np.frombuffer(theirs[flags:], np.uint8).reshape(count, size)
        ordered = (other, own.verifiers) if self.role else (own.verifiers, other)
        decided = self.task.scheme.confirm(own, ordered) & readable
        self._store.keep_check(self.name, number, np.packbits(decided, bitorder="little").tobytes())
        return _message(own)

    def decisions(self) -> bytes:
        """The own decision of this collector on every report of the batch, as packed bits by chunk."""
        if self.state is State.MATCHED:
            missing, found = self.undecided(), self._store.checks(self.name)
            if missing:
                raise ProtocolError(f"{len(missing)} of {self.chunks} chunks are not verified yet")
            return b"".join(found[number] for number in sorted(found))
        self._require_after(State.MATCHED)
        return self._store.blob(self.name, "decisions")

    def settle(self, theirs: bytes) -> None:
        """Fixes the reports that count (accepted by both); below the least batch, ends the task without a sum."""
        if self.state is not State.MATCHED:
            self._require_after(State.MATCHED)
            return
        own = self.decisions()
        if len(theirs) != len(own):
            raise ProtocolError(f"decisions of {len(theirs)} bytes; expected {len(own)}")
        both = (np.frombuffer(own, np.uint8) & np.frombuffer(theirs, np.uint8)).tobytes()
        kept = {"decisions": own, "accepted": both}
        if sum(byte.bit_count() for byte in both) < self.task.least_batch:
            self._store.end(self.name, State.MATCHED, State.TOO_FEW, **kept)
        else:
            self._store.move(self.name, State.MATCHED, State.VERIFIED, **kept)

    # ------------------------------------------------------------ noise
    def charge(self) -> None:
        """Charges the task's ledger once; afterwards only the store or the other collector can fail."""
        if self.state is State.VERIFIED:
            charge_once(self.task, self._url, self._rng)
            self._store.move(self.name, State.VERIFIED, State.CHARGED)
        self._require_after(State.VERIFIED)

    def draw(self) -> None:
        """Draws noise once and stores only the noised total; of two concurrent draws, one is discarded."""
        if self.state is State.CHARGED:
            scheme, task = self.task.scheme, self.task
            noise = [int(value) for value in task.noise.draw_one(task.circuit.outputs, rng=self._rng)]
            total = scheme.elements.encode(scheme.add(self._sum(), noise))
            salt = secrets.token_bytes(SALT)
            self._store.move(self.name, State.CHARGED, State.DRAWN, total=total, salt=salt)
        self._require_after(State.CHARGED)

    def _sum(self) -> tuple[int, ...]:
        """The share of the sum of all reports that count."""
        accepted, scheme = self._store.blob(self.name, "accepted"), self.task.scheme
        total: tuple[int, ...] = (0,) * self.task.circuit.outputs
        for number in range(self.chunks):
            verified = self._verify(number)
            count = len(verified.readable)
            flags = _unpack(accepted[number * CHUNK // 8 :][: -(-count // 8)], count)
            total = scheme.add(total, scheme.aggregate(verified.outputs, flags))
        return total

    def commitment(self) -> bytes:
        """The salted hash that commits to the noised total before the other's is seen."""
        record = self.require(State.DRAWN, State.COMMITTED, State.PUBLISHED)
        return self._commitment_to(self.role, record.salt + record.total)

    def _commitment_to(self, role: int, opening: bytes) -> bytes:
        accepted = hashlib.sha256(self._store.blob(self.name, "accepted")).digest()
        tag = b"bruit noised total:" + bytes([role]) + self.task.digest + accepted
        return hashlib.sha256(tag + opening).digest()

    def hold(self, theirs: bytes) -> None:
        """Stores the other's commitment; a later, different one is refused."""
        record = self.require(State.DRAWN, State.COMMITTED, State.PUBLISHED)
        if len(theirs) != 32:
            raise ProtocolError(f"a commitment has 32 bytes, not {len(theirs)}")
        if record.state is State.DRAWN:
            self._store.move(self.name, State.DRAWN, State.COMMITTED, peer_commitment=theirs)
            record = self.record
        if not hmac.compare_digest(record.peer_commitment, theirs):
            raise ProtocolError("the other collector committed to another total before; it must not draw a second time")

    def opening(self) -> bytes:
        """The salt and the noised total, shown only once the other collector has committed to its own."""
        record = self.require(State.COMMITTED, State.PUBLISHED)
        return record.salt + record.total

    def publish(self, theirs: bytes) -> None:
        """Adds the other's opened total, stores the release, and deletes shares and verification key."""
        record = self.require(State.COMMITTED, State.PUBLISHED)
        if not hmac.compare_digest(self._commitment_to(1 - self.role, theirs), record.peer_commitment):
            raise ProtocolError("what the other collector opened is not what it committed to; no result can be made")
        field = self.task.scheme.elements
        totals = [field.decode(record.total), field.decode(theirs[SALT:])]
        if totals[1] is None or totals[0] is None or len(totals[1]) != self.task.circuit.outputs:
            raise ProtocolError("the other collector's total is no row of field elements; no result can be made")
        if record.state is State.COMMITTED:
            value = self.task.scheme.unshard([totals[0], totals[1]])
            if max(map(abs, value)) > LARGEST_TOTAL:
                raise ProtocolError("the two totals add up to no sum of answers and noise; no result can be made")
            release = release_of(self.task, value, self.counts(), self._url)
            self._store.end(self.name, State.COMMITTED, State.PUBLISHED, release=release, batch=b"", decisions=b"")

    def counts(self) -> dict[str, int]:
        """How many reports arrived, how many both collectors hold, and how many count."""
        accepted = sum(byte.bit_count() for byte in self._store.blob(self.name, "accepted"))
        return {"received": self.record.received, "matched": len(self.batch) // NONCE, "accepted": accepted}

    @property
    def release(self) -> str:
        """The published release as JSON; empty before publication."""
        return self.record.release

    def _require_after(self, state: State) -> None:
        """Refuses a step that comes too early; one that was done before is no error."""
        if self.state.step <= state.step:
            raise ProtocolError(f"the task is {self.state}; this step comes later")


def _split_nonces(data: bytes) -> list[bytes]:
    if len(data) % NONCE:
        raise ProtocolError(f"a list of nonces has a multiple of {NONCE} bytes, not {len(data)}")
    nonces = [data[at : at + NONCE] for at in range(0, len(data), NONCE)]
    if any(one >= two for one, two in pairwise(nonces)):
        raise ProtocolError("a list of nonces is in rising order, each of them once")
    return nonces


def _rows(column: Sequence[bytes]) -> NDArray[np.uint8]:
    return np.frombuffer(b"".join(column), np.uint8).reshape(len(column), -1 if column[0] else 0)


def _message(own: Verification) -> bytes:
    return np.packbits(own.readable, bitorder="little").tobytes() + own.verifiers.tobytes()


def _unpack(bits: bytes, count: int) -> NDArray[np.bool_]:
    return np.unpackbits(np.frombuffer(bits, np.uint8), count=count, bitorder="little").astype(np.bool_)
