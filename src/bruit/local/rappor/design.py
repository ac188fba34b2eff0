"""The design matrix of a RAPPOR decoding: which bits of which cohort each candidate sets."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bruit.errors import BadFile, InvalidArgument
from bruit.local.rappor import bloom
from bruit.local.rappor._decoding_kernels import correlate

if TYPE_CHECKING:
    from bruit.local.rappor.protocol import Rappor


@dataclass(frozen=True, eq=False)
class Design:
    """A sparse 0/1 design matrix with a column per candidate and a row per bit of each cohort.

    The ones of column s stand at rows[starts[s]:starts[s + 1]]. Candidates that set the same bits in every cohort
    cannot be told apart and share a column; its label names them all.
    """

    labels: tuple[str, ...]
    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    height: int

    def __len__(self) -> int:
        return len(self.labels)

    def sums(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Xᵀ values: for each column, the sum of the values at its ones."""
        found = np.empty(len(self), np.float64)
        correlate(self.starts, self.rows, values, found)
        return found

    def entries(self, chosen: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Row and column indices (COO) of the ones in the chosen columns."""
        sizes = np.diff(self.starts)[chosen]
        firsts = np.cumsum(sizes) - sizes
        places = np.arange(sizes.sum()) + np.repeat(self.starts[chosen] - firsts, sizes)
        return self.rows[places], np.repeat(np.arange(len(chosen)), sizes)


def design(protocol: Rappor, candidates: Iterable[str]) -> Design:
    """The design matrix of the candidates, duplicates removed."""
    if isinstance(candidates, str):
        raise InvalidArgument("candidates is one text: give a list of texts, or read_candidates(file)")
    texts = tuple(dict.fromkeys(map(str, candidates)))
    if not texts:
        raise InvalidArgument("no candidates: RAPPOR finds only texts that it is asked about; give at least one")
    places = bloom.candidate_places(texts, cohorts=protocol.cohorts, hashes=protocol.hashes, bits=protocol.bits)
    height = protocol.cohorts * protocol.bits
    rows = (places + np.arange(0, height, protocol.bits, dtype=np.int32)[None, :, None]).astype(np.int32)
    once: NDArray[np.bool_] = np.ones(rows.shape, np.bool_)
    for later in range(1, protocol.hashes):
        for earlier in range(later):
            once[:, :, later] &= rows[:, :, later] != rows[:, :, earlier]
    rows, once = rows.reshape(len(texts), -1), once.reshape(len(texts), -1)
    labels, kept = _distinct(texts, rows, once)
    starts = np.concatenate([[0], np.cumsum(once[kept].sum(axis=1))]).astype(np.int64)
    return Design(labels, starts, rows[kept][once[kept]], height)


def _distinct(
    texts: tuple[str, ...], rows: NDArray[np.int32], once: NDArray[np.bool_]
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """One label for each set of candidates with the same bits, and the place of the first of them.

    A sum of mixed row numbers tells nearly all apart; only where two are equal are the rows compared.
    """
    mixed = (rows.astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mixed = (mixed ^ (mixed >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9)
    if len(np.unique(np.where(once, mixed ^ (mixed >> np.uint64(32)), 0).sum(axis=1))) == len(texts):
        return texts, np.arange(len(texts))
    kinds: dict[frozenset[int], list[int]] = {}
    for number, column in enumerate(rows.tolist()):
        kinds.setdefault(frozenset(column), []).append(number)
    labels = tuple(" or ".join(texts[number] for number in same) for same in kinds.values())
    return labels, np.array([same[0] for same in kinds.values()])


def read_candidates(path: Path | str) -> tuple[str, ...]:
    """The candidates in a text file, one a line; empty lines and repeated ones are passed over."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise BadFile(f"{Path(path).name} is no file of candidates: give a UTF-8 text file, one a line") from error
    found = tuple(dict.fromkeys(line.strip() for line in lines if line.strip()))
    if not found:
        raise BadFile(f"{Path(path).name} holds no candidate: write one a line")
    return found
