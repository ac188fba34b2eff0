"""Private k-means: a few noisy rounds of Lloyd's algorithm, started from a noisy mean and covariance of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin, TransformerMixin

from bruit.channels import VectorNoise
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.learning.estimator.contract import FitRequest, PrivateEstimator, Records
from bruit.learning.linear_models._design import STEPS, Design
from bruit.learning.linear_models._moments import noisy_products, product_entries, with_ones
from bruit.mechanisms import all_of, buy_vectors

Floats = NDArray[np.float64]
MOST_ROUNDS, FEWEST_ROUNDS, USUAL_ROUNDS = 6, 1, 4
DROWNED = 0.05
"""Another round is bought only while its noise stays below this share of a cluster's size."""

EXACT_ROUNDS, EXACT_STARTS = 300, 4
MADE_UP = 2000
MOST_CLUSTERS = 10_000
"""Starting centres are found among ten made-up rows for each of them, which must fit into memory."""

USUAL, LEAST = 0.1, 0.001
"""The variance that a scaled column usually has, and the least one in any direction."""

BLOCK = 1 << 14
FINE = 2.0**20
"""Centres are used in steps of 2^-20: distances from rows are then exact in 53 bits, whatever the order of summing, so
that the nearest centre of a row never depends on which other rows are there."""


class KMeans(ClusterMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """k-means on columns scaled to [-1, 1] (unscaled without a domain), by noisy Lloyd rounds.

    First the noisy mean and covariance of all rows: centres start where k-means puts them in made-up normal rows of
    that shape. Then rounds, each of which releases every cluster's count and sums once; a row moves one cluster, every
    entry by at most one, and a cluster that the noise drowns hardly moves. No `labels_` of private rows are kept.
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        domain: Any = None,
        size: Any = None,
        rows_per_person: int = 1,
        rounds: Any = None,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.domain = domain
        self.size = size
        self.rows_per_person = rows_per_person
        self.rounds = rounds
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> KMeans:
        """Fits the centres; `groups` names the person behind each row where people have several rows."""
        del y
        clusters = whole(self.n_clusters, "n_clusters", most=MOST_CLUSTERS)
        question = self._ask(X, groups=groups)
        self._design = None if question.domains is None else Design(question.domains, first=0)
        if question.price is None or self._design is None:
            return self._fit_exactly(clusters, question.pay(None))
        rounds, noise = _plan_rounds(question, self._design.columns, clusters, self.rounds)
        shape = _Shape.of(question, self._design.columns, parts=rounds + 1, like=noise)
        records = question.pay(all_of((shape.noise, 1), (noise, rounds)))
        rows = self._design.integers(records.values)
        centres = _start_centres(clusters, *shape.released(rows, size=question.size, rng=records.rng), rng=records.rng)
        for _ in range(rounds):
            centres = _move_centres(rows, centres, noise, rng=records.rng)
        self._centres = centres
        self.cluster_centers_ = self._design.centres + self._design.widths * centres
        return records.finish(self)

    def _fit_exactly(self, clusters: int, records: Records) -> KMeans:
        """Lloyd's algorithm to its end, the best of several starts at rows far apart."""
        rows = self._scale(records.values)
        if len(rows) < clusters:
            raise InvalidArgument(f"n_samples={len(rows)} should be >= n_clusters={clusters}")
        found = [_lloyd(rows, _plus_plus(rows, clusters, records.rng)) for _ in range(EXACT_STARTS)]
        self._centres = min(found, key=lambda centres: _nearest(rows, centres)[1].sum())
        self.cluster_centers_ = self._centres
        if self._design is not None:
            self.cluster_centers_ = self._design.centres + self._design.widths * self._centres
        self.labels_ = _nearest(rows, self._centres)[0]
        return self

    def _scale(self, values: NDArray[Any]) -> Floats:
        if self._design is None:
            return np.asarray(values, np.float64)
        return np.asarray(self._design.integers(values) / STEPS)

    def fit_predict(self, X: Any, y: Any = None, groups: Any = None) -> NDArray[np.int64]:
        """Fits the centres, then returns the index of the nearest one for each row."""
        return self.fit(X, y, groups=groups).predict(X)

    def transform(self, X: Any) -> Floats:
        """The distances of each row from every centre, in scaled columns; post-processing of the fit."""
        rows = self._scale(self._encode(X))
        return np.asarray(np.sqrt(((rows[:, None] - self._centres) ** 2).sum(axis=2)))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The index of the nearest centre for each row; post-processing of the fit."""
        rows = self._scale(self._encode(X))
        return _nearest(rows, self._centres)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of squared distances from the nearest centres, in scaled columns."""
        del y
        rows = self._scale(self._encode(X))
        return -float(_nearest(rows, self._centres)[1].sum())


def _plan_rounds(question: FitRequest, columns: int, clusters: int, asked: Any) -> tuple[int, VectorNoise]:
    """How many rounds, from public numbers alone, and their noise."""
    price, rows_changed = question.price, question.rows_changed
    assert price is not None

    def noise(rounds: int) -> VectorNoise:
        share = Fraction(rounds, rounds + 1)
        return buy_vectors(price, entries=columns + 1, each=STEPS, rows_changed=rows_changed, share=share, times=rounds)

    if asked is not None or question.size is None:
        rounds = USUAL_ROUNDS if asked is None else whole(asked, "rounds")
        return rounds, noise(rounds)
    for rounds in range(MOST_ROUNDS, FEWEST_ROUNDS, -1):
        if noise(rounds).deviation / STEPS < DROWNED * question.size / clusters:
            return rounds, noise(rounds)
    return FEWEST_ROUNDS, noise(FEWEST_ROUNDS)


@dataclass(frozen=True)
class _Shape:
    """The noisy mean and covariance of all rows; variances alone where covariances would drown."""

    noise: VectorNoise
    full: bool

    @classmethod
    def of(cls, question: FitRequest, columns: int, *, parts: int, like: VectorNoise) -> _Shape:
        """Covariances where the noise of all of them is small against the public size."""
        assert question.price is not None
        price, known = question.price, question.size is not None

        def noise(entries: int) -> VectorNoise:
            share, rows_changed = Fraction(1, parts), question.rows_changed
            return buy_vectors(price, entries=entries, each=STEPS**2, rows_changed=rows_changed, share=share, like=like)

        full = noise(product_entries(columns + 1, public_size=known))
        if full.deviation / STEPS**2 < DROWNED * (question.size or 0):
            return cls(full, full=True)
        return cls(noise(2 * columns + (not known)), full=False)

    def released(self, rows: NDArray[np.int64], *, size: int | None, rng: np.random.Generator) -> tuple[Floats, Floats]:
        """Mean and covariance, pulled towards those of a usual column by as much as they are noisy."""
        if self.full:
            matrix = noisy_products(with_ones(rows), self.noise, size=size, rng=rng).matrix
            total, first, second = max(matrix[0, 0], 1.0), matrix[0, 1:], matrix[1:, 1:]
        else:
            sums = np.concatenate([rows.sum(axis=0) * STEPS, (2 * rows**2 - STEPS**2).sum(axis=0)])
            sums = np.append(sums, [] if size is not None else [len(rows) * STEPS**2])
            noisy = (sums + self.noise.draw(1, rng=rng)[0]) / STEPS**2
            total = max(float(size if size is not None else noisy[-1]), 1.0)
            first, squares = noisy[: rows.shape[1]], noisy[rows.shape[1] : 2 * rows.shape[1]]
            second = np.diag((squares + total) / 2)
        kept = USUAL / (USUAL + (self.noise.deviation / STEPS**2 / total) ** 2)
        mean = kept * np.clip(first / total, -1, 1)
        around = second / total - (np.outer(mean, mean) if self.full else np.diag(mean**2))
        values, vectors = np.linalg.eigh(kept * around + (1 - kept) * USUAL * np.eye(len(mean)))
        return mean, (vectors * np.clip(values, LEAST, 1)) @ vectors.T


def _start_centres(clusters: int, mean: Floats, covariance: Floats, *, rng: np.random.Generator) -> Floats:
    """Starting centres: k-means on invented normal rows of the released mean and covariance."""
    made = np.clip(rng.multivariate_normal(mean, covariance, max(MADE_UP, 10 * clusters)), -1, 1)
    found = [_lloyd(made, _plus_plus(made, clusters, rng)) for _ in range(EXACT_STARTS)]
    return min(found, key=lambda centres: _nearest(made, centres)[1].sum())


def _move_centres(rows: NDArray[np.int64], centres: Floats, noise: VectorNoise, *, rng: np.random.Generator) -> Floats:
    """The centres after one noisy round, each moved the less the noisier its count and sums are."""
    near = np.rint(centres * FINE) / FINE
    sums = np.zeros((len(centres), rows.shape[1] + 1), np.int64)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        labels = _nearest(block / STEPS, near)[0]
        np.add.at(sums, labels, np.column_stack([np.full(len(block), STEPS), block]))
    noisy = (sums + noise.draw(len(centres), rng=rng)) / STEPS
    spread = noise.deviation / STEPS
    counts = np.maximum(noisy[:, :1], spread)
    kept = USUAL / (USUAL + 2 * (spread / counts) ** 2)
    return np.asarray(centres + kept * (np.clip(noisy[:, 1:] / counts, -1, 1) - centres))


def _nearest(rows: Floats, centres: Floats) -> tuple[NDArray[np.int64], Floats]:
    """The nearest centre of each row and its squared distance."""
    squares = (rows**2).sum(axis=1)[:, None] - 2 * rows @ centres.T + (centres**2).sum(axis=1)
    labels = np.argmin(squares, axis=1)
    return labels.astype(np.int64), np.maximum(squares[np.arange(len(rows)), labels], 0)


def _plus_plus(rows: Floats, clusters: int, rng: np.random.Generator) -> Floats:
    """Rows far apart, each drawn in proportion to its squared distance.   [Arthur & Vassilvitskii 2007]"""
    centres = rows[[int(rng.integers(len(rows)))]]
    for _ in range(clusters - 1):
        distances = _nearest(rows, centres)[1] + 1e-300
        centres = np.vstack([centres, rows[rng.choice(len(rows), p=distances / distances.sum())]])
    return np.asarray(centres)


def _lloyd(rows: Floats, centres: Floats) -> Floats:
    for _ in range(EXACT_ROUNDS):
        labels = _nearest(rows, centres)[0]
        counts = np.bincount(labels, minlength=len(centres))
        sums = np.zeros_like(centres)
        np.add.at(sums, labels, rows)
        moved = np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], centres)
        if np.allclose(moved, centres, rtol=0, atol=1e-12):
            break
        centres = moved
    return centres
