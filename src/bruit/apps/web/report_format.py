"""The format of reports between browser and server, and how reports are counted.

A report is a whole number (the place of an answer, or a bit), or bits as hexadecimal digits, the first bit lowest in
the first byte, or for texts the cohort and bits as `[3, "0f…"]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument
from bruit.local import FrequencyProtocol, LocalProtocol, ReportShape, ReportsKind, TallyKind

Counters = NDArray[np.int64]


@dataclass(frozen=True)
class Wire:
    """The report format of one protocol: an index below `size`, or `size` bits, perhaps with a cohort."""

    protocol: LocalProtocol

    @cached_property
    def is_bits(self) -> bool:
        """Whether a report is a row of bits, rather than an index."""
        return self._shape is not ReportShape.PLACE

    @cached_property
    def cohorts(self) -> int:
        """The number of cohorts that a report may name; 0 where it names none."""
        return int(self._settings.cohorts) if self._shape is ReportShape.COHORT_BITS else 0

    @cached_property
    def size(self) -> int:
        """The number of indices or bits."""
        if self.cohorts:
            return int(self._settings.bits)
        return len(self._settings.categories) if isinstance(self.protocol, FrequencyProtocol) else 2

    @property
    def _shape(self) -> ReportShape:
        offer = self.protocol.offer
        if offer is None or offer.report is None:
            raise InvalidArgument(f"no browser follows {type(self.protocol).__name__}: ask by another protocol")
        return offer.report

    @property
    def _settings(self) -> Any:
        """The protocol, whose own attributes say how large a report is."""
        return self.protocol

    def read(self, report: Any) -> str:
        """Converts a received report to its stored text; refuses one that the protocol cannot produce."""
        if self.cohorts:
            if not isinstance(report, list) or len(report) != 2:
                raise self._wrong()
            return f"{self._place(report[0], self.cohorts)}:{self._bits(report[1])}"
        return self._bits(report) if self.is_bits else str(self._place(report, self.size))

    def count(self, before: bytes, reports: Sequence[str]) -> bytes:
        """Adds reports to stored counters and returns the new counters as bytes."""
        counters = self.counters(before)
        if self.cohorts:
            split = [kept.split(":") for kept in reports]
            cohorts = np.array([int(cohort) for cohort, _ in split])
            np.add.at(counters.reshape(self.cohorts, -1)[:, 0], cohorts, 1)
            np.add.at(counters.reshape(self.cohorts, -1)[:, 1:], cohorts, self._bit_rows([row for _, row in split]))
        elif self.is_bits:
            counters += self._bit_rows(reports).sum(axis=0, dtype=np.int64)
        else:
            counters += np.bincount([int(kept) for kept in reports], minlength=self.size)
        return counters.tobytes()

    def counters(self, kept: bytes) -> Counters:
        """Decodes stored counters (zeros if none); with cohorts, for each: its reports, then its bit counts."""
        width = self.cohorts * (1 + self.size) if self.cohorts else self.size
        return np.frombuffer(kept, np.int64).copy() if kept else np.zeros(width, np.int64)

    def tally(self, people: int, kept: bytes) -> TallyKind:
        """The protocol's tally from stored counters."""
        counters = self.counters(kept)
        if self.cohorts:
            table = counters.reshape(self.cohorts, -1)
            return self.protocol.tally_of(table[:, 1:], table[:, 0])
        return self.protocol.tally_of(counters, people)

    def to_wire(self, reports: ReportsKind) -> list[Any]:
        """Reports made in Python, in the format in which a browser sends them."""
        columns = list(reports.columns().values())
        if not self.is_bits:
            return [int(place) for place in columns[0]]
        words = np.column_stack(columns[1:] if self.cohorts else columns).astype("<u8")
        rows = [row.tobytes()[: self._bytes].hex() for row in words]
        return [[int(cohort), row] for cohort, row in zip(columns[0], rows, strict=True)] if self.cohorts else rows

    def from_wire(self, kept: Sequence[str]) -> ReportsKind:
        """Converts stored reports to the protocol's own reports, to be tallied or written to a file."""
        sample = self.protocol.randomise([])
        names = list(sample.columns())
        if not self.is_bits:
            return sample.of({names[0]: np.array([int(place) for place in kept], np.int64)}, seeded=False)
        padded = np.zeros((len(kept), -(-self.size // 64) * 8), np.uint8)
        padded[:, : self._bytes] = self._hex_rows([row.rpartition(":")[2] for row in kept])
        words = padded.view("<u8").astype(np.uint64)
        parts = [np.array([int(row.partition(":")[0]) for row in kept], np.int32)] if self.cohorts else []
        return sample.of(dict(zip(names, [*parts, *words.T], strict=True)), seeded=False)

    @property
    def _bytes(self) -> int:
        return -(-self.size // 8)

    def _hex_rows(self, rows: Sequence[str]) -> NDArray[np.uint8]:
        return np.frombuffer(bytes.fromhex("".join(rows)), np.uint8).reshape(len(rows), self._bytes)

    def _bit_rows(self, rows: Sequence[str]) -> NDArray[np.uint8]:
        return np.unpackbits(self._hex_rows(rows), axis=1, count=self.size, bitorder="little")

    def _place(self, value: Any, below: int) -> int:
        if type(value) is not int or not 0 <= value < below:
            raise self._wrong()
        return value

    def _bits(self, value: Any) -> str:
        if not isinstance(value, str) or len(value) != 2 * self._bytes or set(value) - set("0123456789abcdef"):
            raise self._wrong()
        if self.size % 8 and int(value[-2:], 16) >> self.size % 8:
            raise self._wrong()
        return value

    def _wrong(self) -> InvalidArgument:
        bits = f"{self.size} bits as {2 * self._bytes} hexadecimal digits"
        if self.cohorts:
            return InvalidArgument(f"a report of this poll is a cohort below {self.cohorts} and {bits}")
        return InvalidArgument(
            f"a report of this poll is {bits if self.is_bits else f'a whole number below {self.size}'}"
        )
