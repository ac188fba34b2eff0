"""Tasks of two collectors: everything fixed before anybody answers, hashed into the task's name."""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any, Final
from urllib.parse import urlsplit

from bruit.aggregation.circuits import Circuit, circuit_from_json
from bruit.aggregation.noise import TwoLaplaceNoises
from bruit.aggregation.scheme import KEY, NONCE, Prio3
from bruit.core import REPLACE_ONE, Assumption, Exact, Guarantee
from bruit.core.arguments import whole
from bruit.core.numbers import positive
from bruit.errors import InvalidArgument

LEAST_BATCH: Final = 10
"""No result is made of fewer accepted reports, whatever a task asks; privacy does not rest on it."""
MOST_PEOPLE: Final = 2**30
LARGEST_SCALE: Final = 2**53
"""Noise of a larger scale leaves the range of 64-bit integers: refused here, before anybody answers."""
FORMAT: Final = 1
TOKEN: Final = 16
"""Bytes of the one-time token that makes a second report of one person visible."""
SEALING: Final = 48
"""Bytes that sealing adds to a share: an X25519 public key of 32 and the tag of AES-128-GCM of 16 [RFC 9180]."""
ASSUMES: Final = (Assumption.TWO_COLLECTORS, Assumption.TURBOSHAKE128)
PERSON: Final = "participant"
_LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
_CONSONANTS, _VOWELS = "bdfghjklmnprstvz", "aiou"


@dataclass(frozen=True)
class Party:
    """A collector as participants see it: its name, its address, and the public key answers are encrypted to.

    The first collector has an address, the second, which pulls, a key (32 bytes of X25519, hexadecimal).
    """

    name: str
    address: str = ""
    key: str = ""

    def __post_init__(self) -> None:
        if not self.name or len(self.name) > 80 or not self.name.isprintable():
            raise InvalidArgument(f"name={self.name!r}: give the collector a name of 1 to 80 printable characters")
        if self.address:
            _require_safe(self.address)
        if self.key and not re.fullmatch(r"[0-9a-f]{64}", self.key):
            raise InvalidArgument("a collector's key is 32 bytes in hexadecimal digits")

    @property
    def words(self) -> str:
        """The fingerprint of the key as eight words that two people can compare aloud."""
        return fingerprint(bytes.fromhex(self.key))


@dataclass(frozen=True)
class Task:
    """A question split between two collectors: the allowed answers, epsilon, least batch, parties, and the key's hash.

    `key_hash` is the SHA-256 of the verification key, so that the key is fixed before any report is made.
    """

    question: str
    circuit: Circuit
    labels: tuple[str, ...]
    epsilon: Fraction
    least_batch: int
    parties: tuple[Party, Party]
    key_hash: str

    def __init__(
        self,
        question: str,
        circuit: Circuit,
        *,
        labels: tuple[str, ...],
        epsilon: Exact,
        least_batch: int,
        parties: tuple[Party, Party],
        key_hash: str,
    ) -> None:
        values = {"question": question, "circuit": circuit, "labels": tuple(labels)}
        values |= {"least_batch": whole(least_batch, "least_batch")}
        values |= {"epsilon": positive(epsilon, "epsilon"), "parties": tuple(parties), "key_hash": key_hash}
        for name, value in values.items():
            object.__setattr__(self, name, value)
        self._check()

    def _check(self) -> None:
        if not isinstance(self.question, str) or not self.question.strip() or len(self.question) > 500:
            raise InvalidArgument("a question has 1 to 500 characters")
        if len(self.labels) != self.circuit.outputs or any(not 0 < len(label) <= 200 for label in self.labels):
            raise InvalidArgument(f"give {self.circuit.outputs} labels of 1 to 200 characters, one for each number")
        if not LEAST_BATCH <= self.least_batch <= MOST_PEOPLE:
            raise InvalidArgument(f"least_batch={self.least_batch}: give at least {LEAST_BATCH}; 100 is better")
        if self.noise.scale >= LARGEST_SCALE:
            raise InvalidArgument(f"epsilon={self.epsilon} for numbers this large needs noise beyond 64 bits; raise it")
        if len(self.parties) != 2 or self.parties[0].name == self.parties[1].name:
            raise InvalidArgument("a task has two collectors of different names")
        if not re.fullmatch(r"[0-9a-f]{64}", self.key_hash):
            raise InvalidArgument("key_hash is the SHA-256 of the verification key in hexadecimal digits")

    # ------------------------------------------------------------ what follows from it
    @cached_property
    def text(self) -> str:
        """The canonical text of the task: JSON with sorted keys and no spaces, which everybody hashes."""
        values = {
            "format": FORMAT,
            "question": self.question,
            "circuit": self.circuit.to_json(),
            "labels": list(self.labels),
            "epsilon": str(self.epsilon),
            "sensitivity": self.circuit.sensitivity,
            "least_batch": self.least_batch,
            "collectors": [vars(party) for party in self.parties],
            "key_hash": self.key_hash,
        }
        return json.dumps(values, sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @cached_property
    def digest(self) -> bytes:
        """The SHA-256 of the text, which binds every share and proof to the task."""
        return hashlib.sha256(self.text.encode()).digest()

    @property
    def name(self) -> str:
        """The digest in hexadecimal; it names the task and binds all its parameters."""
        return self.digest.hex()

    @cached_property
    def scheme(self) -> Prio3:
        """The Prio3 instance of this task."""
        return Prio3(self.circuit, self.digest)

    @property
    def noise(self) -> TwoLaplaceNoises:
        """The joint noise of both collectors."""
        return TwoLaplaceNoises.of(self.circuit, self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        """The guarantee to a participant against either collector and against the public."""
        return Guarantee(self.epsilon, Fraction(0), REPLACE_ONE, PERSON, "basic", ASSUMES)

    @property
    def sealed_size(self) -> int:
        """The size in bytes of the second collector's encrypted share."""
        return self.scheme.share_size(1) + SEALING

    @property
    def report_size(self) -> int:
        """The size in bytes of a participant's report: the first collector's parts and the encrypted share."""
        return sum(self.part_sizes(0)) + self.sealed_size

    def part_sizes(self, role: int) -> tuple[int, int, int, int]:
        """The sizes in bytes of a report's parts at a collector: nonce, token, public share, own share."""
        return NONCE, TOKEN, self.scheme.public_size, self.scheme.share_size(role)


def task_from_text(text: str) -> Task:
    """Parses a task; refuses a text other than the canonical one of that task."""
    try:
        values: dict[str, Any] = json.loads(text)
        task = Task(
            values["question"],
            circuit_from_json(values["circuit"]),
            labels=tuple(values["labels"]),
            epsilon=values["epsilon"],
            least_batch=values["least_batch"],
            parties=(Party(**values["collectors"][0]), Party(**values["collectors"][1])),
            key_hash=values["key_hash"],
        )
    except (KeyError, TypeError, IndexError, ValueError, AttributeError, ZeroDivisionError) as error:
        if isinstance(error, InvalidArgument):
            raise
        raise InvalidArgument("this text describes no task of two collectors") from error
    if task.text != text:
        raise InvalidArgument("this is not the canonical text of its task: a key, a space or a number differs")
    return task


def key_hash(key: bytes) -> str:
    """The SHA-256 of a verification key."""
    if len(key) != KEY:
        raise InvalidArgument(f"a verification key has {KEY} bytes")
    return hashlib.sha256(b"bruit verification key:" + key).hexdigest()


def fingerprint(key: bytes) -> str:
    """Eight pronounceable words for the first 128 bits of a key's SHA-256, 16 bits per word."""
    digest = hashlib.sha256(b"bruit sealing key:" + key).digest()
    return " ".join(_word(int.from_bytes(digest[at : at + 2], "big")) for at in range(0, 16, 2))


def _word(bits: int) -> str:
    letters = ""
    for shift, alphabet in ((12, _CONSONANTS), (10, _VOWELS), (6, _CONSONANTS), (4, _VOWELS), (0, _CONSONANTS)):
        letters += alphabet[bits >> shift & (len(alphabet) - 1)]
    return letters


def _require_safe(address: str) -> None:
    parts = urlsplit(address)
    if parts.scheme == "https" and parts.hostname:
        return
    if parts.scheme == "http" and parts.hostname in _LOOPBACK:
        return
    raise InvalidArgument(f"{address!r}: a collector is reached by https://, or by http:// on this machine alone")
