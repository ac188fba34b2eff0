"""Private k-means: a few noisy rounds of Lloyd's algorithm from centres that the data does not choose."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClusterMixin, TransformerMixin

from bruit.errors import InvalidArgument
from bruit.learning._asking import whole
from bruit.learning._design import STEPS, Design
from bruit.learning._estimator import PrivateEstimator, Question, Records
from bruit.learning._noise import VectorNoise, all_of, vector_noise

Floats = NDArray[np.float64]
MOST_ROUNDS, FEWEST_ROUNDS, USUAL_ROUNDS = 8, 2, 4
DROWNED = 0.05
"""The noise of a round, as a share of a cluster, up to which another round is worth its price."""

EXACT_ROUNDS, EXACT_STARTS = 300, 4
SPREAD_TRIES = 200
BLOCK = 1 << 14


class KMeans(ClusterMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """k-means in columns scaled to [-1, 1] (without a domain: as they are), by noisy Lloyd rounds.

    A round releases each cluster's count and sums once; a row moves one cluster, every entry by at most one. Centres
    start apart from each other inside the domain, and a cluster whose noisy count is small hardly moves. With a budget no
    `labels_` of the rows are kept.
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
        """Finds the centres; `groups` says whose row each is where people have several."""
        del y
        clusters = whole(self.n_clusters, "n_clusters")
        question = self._ask(X, groups=groups)
        self._design = None if question.domains is None else Design(question.domains, first=0)
        if question.price is None or self._design is None:
            return self._fit_exactly(clusters, question.pay(None))
        rounds, noise = _planned(question, self._design.columns, clusters, self.rounds)
        records = question.pay(all_of((noise, rounds)))
        rows = self._design.integers(records.values)
        centres = _apart(clusters, rows.shape[1], rng=records.rng)
        for _ in range(rounds):
            centres = _moved(rows, centres, noise, rng=records.rng)
        self._centres = centres
        self.cluster_centers_ = self._design.centres + self._design.widths * centres
        return self

    def _fit_exactly(self, clusters: int, records: Records) -> KMeans:
        """Lloyd's algorithm to its end, the best of several starts at rows far apart."""
        rows = self._scaled(records.values)
        if len(rows) < clusters:
            raise InvalidArgument(f"n_samples={len(rows)} should be >= n_clusters={clusters}")
        found = [_lloyd(rows, _plus_plus(rows, clusters, records.rng)) for _ in range(EXACT_STARTS)]
        self._centres = min(found, key=lambda centres: _nearest(rows, centres)[1].sum())
        self.cluster_centers_ = self._centres
        if self._design is not None:
            self.cluster_centers_ = self._design.centres + self._design.widths * self._centres
        self.labels_ = _nearest(rows, self._centres)[0]
        return self

    def _scaled(self, values: NDArray[Any]) -> Floats:
        if self._design is None:
            return np.asarray(values, np.float64)
        return np.asarray(self._design.integers(values) / STEPS)

    def fit_predict(self, X: Any, y: Any = None, groups: Any = None) -> NDArray[np.int64]:
        """Finds the centres, then the nearest one for each row that was given."""
        return self.fit(X, y, groups=groups).predict(X)

    def transform(self, X: Any) -> Floats:
        """The distances of each row from every centre, in scaled columns; post-processing of the fit."""
        rows = self._scaled(self._encode(X))
        return np.asarray(np.sqrt(((rows[:, None] - self._centres) ** 2).sum(axis=2)))

    def predict(self, X: Any) -> NDArray[np.int64]:
        """The nearest centre of each row; post-processing of the fit."""
        rows = self._scaled(self._encode(X))
        return _nearest(rows, self._centres)[0]

    def score(self, X: Any, y: Any = None) -> float:
        """Minus the sum of squared distances from the nearest centres, in scaled columns."""
        del y
        rows = self._scaled(self._encode(X))
        return -float(_nearest(rows, self._centres)[1].sum())


def _planned(question: Question, columns: int, clusters: int, asked: Any) -> tuple[int, VectorNoise]:
    """How many rounds, from what is public, and their noise."""
    price, people = question.price, question.people
    assert price is not None

    def noise(rounds: int) -> VectorNoise:
        return vector_noise(price, entries=columns + 1, each=STEPS, people=people, times=rounds)

    if asked is not None or question.size is None:
        rounds = USUAL_ROUNDS if asked is None else whole(asked, "rounds")
        return rounds, noise(rounds)
    for rounds in range(MOST_ROUNDS, FEWEST_ROUNDS, -1):
        if noise(rounds).deviation / STEPS < DROWNED * question.size / clusters:
            return rounds, noise(rounds)
    return FEWEST_ROUNDS, noise(FEWEST_ROUNDS)


def _apart(clusters: int, columns: int, *, rng: np.random.Generator) -> Floats:
    """Centres that the data does not choose: random, each as far from the others and the walls as was found.

    [Su et al. 2016, Section 3.1]
    """
    centres: list[Floats] = []
    for _ in range(clusters):
        tried = rng.uniform(-0.9, 0.9, (SPREAD_TRIES, columns))
        gaps = np.min([np.sum((tried - centre) ** 2, axis=1) for centre in centres], axis=0) if centres else np.zeros(1)
        centres.append(tried[int(np.argmax(gaps))])
    return np.array(centres)


def _moved(rows: NDArray[np.int64], centres: Floats, noise: VectorNoise, *, rng: np.random.Generator) -> Floats:
    """The centres after one noisy round; each is pulled back to where it was by one deviation of its count."""
    sums = np.zeros((len(centres), rows.shape[1] + 1), np.int64)
    for start in range(0, len(rows), BLOCK):
        block = rows[start : start + BLOCK]
        labels = _nearest(block / STEPS, centres)[0]
        np.add.at(sums, labels, np.column_stack([np.full(len(block), STEPS), block]))
    noisy = (sums + noise.draw(len(centres), rng=rng)) / STEPS
    pull = noise.deviation / STEPS
    counts = np.maximum(noisy[:, :1], 0) + pull
    return np.asarray(np.clip((noisy[:, 1:] + pull * centres) / counts, -1, 1))


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
