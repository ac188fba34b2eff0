"""Reconstruction attacks: recover secret bits from noisy answers to many counting queries.

Dinur and Nissim: if the answers to enough random subset sums are off by o(√n), nearly all of n secret bits come back in
polynomial time; if all 2^n sums are answered within E, any table that fits differs in at most 4E bits.
                                                                             [Dinur & Nissim 2003, Thms 1 and 2]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import linprog, lsq_linear

from bruit.anonymity.notice import NOT_A_RELEASE
from bruit.channels import IntegerLoss, IntegerNoise
from bruit.errors import InvalidArgument
from bruit.randomness import generator

Method = Literal["linear programming", "least squares", "hadamard", "exhaustive"]
METHODS: tuple[Method, ...] = ("linear programming", "least squares", "hadamard", "exhaustive")

MOST_EXHAUSTIVE = 16
BLOCK = 256
"""Questions looked at together by the exhaustive attack."""

QUESTIONS_PER_BIT = 4
RIDGE = 1e-6


@dataclass(frozen=True)
class HadamardQueries:
    """The n subset-sum queries given by the rows of Sylvester's Hadamard matrix, n a power of two.

    Least squares on them is one fast transform, so that a million bits take a fraction of a second.
                                                                              [Dwork & Yekhanin 2008, Sec. 3]
    """

    size: int

    def __post_init__(self) -> None:
        if self.size < 1 or self.size & (self.size - 1):
            raise InvalidArgument(f"size={self.size}: Hadamard questions need a power of two; pad with zeros")

    def answers(self, secret: NDArray[Any]) -> NDArray[np.float64]:
        """The exact answer to each query for a vector of secret bits."""
        turned = _hadamard_transform(np.asarray(secret, np.float64))
        sums: NDArray[np.float64] = (turned + turned[0]) / 2
        return sums


Queries = NDArray[Any] | HadamardQueries


@dataclass(frozen=True)
class Reconstruction:
    """The bits that best fit the answers, the method that found them, and their largest deviation from an answer."""

    bits: NDArray[np.uint8]
    method: Method
    misfit: float
    notice: str = NOT_A_RELEASE


@dataclass(frozen=True)
class Recovery:
    """How many bits an attacker recovered in a simulation; guessing recovers half."""

    size: int
    questions: int
    method: Method
    recovered: float

    def __str__(self) -> str:
        return (
            f"With this noise an attacker who asks {self.questions} questions about {self.size} people recovers "
            f"{self.recovered:.1%} of their bits (guessing: 50 %)."
        )


def random_queries(size: int, count: int, *, rng: np.random.Generator | None = None) -> NDArray[np.uint8]:
    """`count` random subsets of 0 .. size-1, one per row, as zeros and ones."""
    return generator(rng).integers(0, 2, (count, size), dtype=np.uint8)


def reconstruct(queries: Queries, answers: NDArray[Any], *, method: Method | None = None) -> Reconstruction:
    """Recovers secret bits from noisy subset sums.

    Without `method`: the transform for Hadamard questions, every candidate for at most 16 bits, else least squares,
    which recovers as much as linear programming in less time.
    """
    told = np.asarray(answers, np.float64)
    chosen = method or _usual(queries)
    size = queries.size if isinstance(queries, HadamardQueries) else np.asarray(queries).shape[1]
    _check(queries, told, chosen, size)
    if isinstance(queries, HadamardQueries):
        bits = _round_bits(_hadamard_transform(2 * told - told[0]) / size)
        return Reconstruction(bits, chosen, float(np.abs(queries.answers(bits) - told).max()))
    asked = np.asarray(queries, np.float64)
    bits = ATTACKS[chosen](asked, told)
    return Reconstruction(bits, chosen, float(np.abs(asked @ bits - told).max()))


def simulate_reconstruction(
    size: int,
    noise: float | IntegerLoss,
    *,
    questions: int | None = None,
    method: Method = "least squares",
    rng: np.random.Generator | None = None,
) -> Recovery:
    """Simulates the attack on a planned release: random bits and queries, with the planned noise.

    `noise` is a bound E (each answer is off by a uniform number within ±E), or the loss of integer noise.
    """
    source = generator(rng)
    secret = source.integers(0, 2, size)
    queries: Queries
    if method == "hadamard":
        queries = HadamardQueries(size)
        exact = queries.answers(secret)
    else:
        asked = random_queries(size, questions or QUESTIONS_PER_BIT * size, rng=source)
        queries, exact = asked, asked.astype(np.float64) @ secret
    found = reconstruct(queries, exact + _noise(noise, len(exact), source), method=method)
    return Recovery(size, len(exact), method, float((found.bits == secret).mean()))


def _hadamard_transform(values: NDArray[np.float64]) -> NDArray[np.float64]:
    from bruit.local.frequencies.hadamard import transformed

    return transformed(values)


def _linear_programming(queries: NDArray[np.float64], answers: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The point of the unit cube with the least sum of |misfit|, rounded; solved by HiGHS."""
    count, size = queries.shape
    sums: Any
    slack: Any
    sums, slack = sparse.csr_matrix(queries), sparse.identity(count)
    left: Any = sparse.vstack([sparse.hstack([sums, -slack]), sparse.hstack([-sums, -slack])]).tocsr()
    cost = np.concatenate([np.zeros(size), np.ones(count)])
    bounds = [(0, 1)] * size + [(0, None)] * count
    solved: Any = linprog(cost, A_ub=left, b_ub=np.concatenate([answers, -answers]), bounds=bounds, method="highs-ipm")
    return _round_bits(solved.x[:size])


def _least_squares(queries: NDArray[np.float64], answers: NDArray[np.float64]) -> NDArray[np.uint8]:
    """The least-squares point, rounded; where questions are too few to fix it, the one within the unit cube."""
    count, size = queries.shape
    if count > size:
        squares = queries.T @ queries
        squares.flat[:: size + 1] += RIDGE  # people whom every question treats alike cannot be told apart
        point = np.linalg.solve(squares, queries.T @ answers)
    else:
        point = lsq_linear(queries, answers, bounds=(0, 1)).x
    return _round_bits(point)


def _exhaustive(queries: NDArray[np.float64], answers: NDArray[np.float64]) -> NDArray[np.uint8]:
    """Of all 2^n candidates the one whose largest misfit is least."""
    size = queries.shape[1]
    if size > MOST_EXHAUSTIVE:
        raise InvalidArgument(f"{size} bits have too many candidates; the exhaustive attack takes {MOST_EXHAUSTIVE}")
    candidates = (np.arange(2**size)[:, None] >> np.arange(size) & 1).astype(np.float32)
    misfit = np.zeros(2**size, np.float32)
    for first in range(0, len(queries), BLOCK):
        part = candidates @ queries[first : first + BLOCK].T.astype(np.float32)
        part -= answers[first : first + BLOCK].astype(np.float32)
        np.maximum(misfit, np.abs(part).max(axis=1), out=misfit)
    return _round_bits(candidates[int(misfit.argmin())])


def _round_bits(point: NDArray[Any]) -> NDArray[np.uint8]:
    return np.asarray(point > 0.5, np.uint8)


Attack = Callable[[NDArray[np.float64], NDArray[np.float64]], NDArray[np.uint8]]
ATTACKS: dict[Method, Attack] = {
    "linear programming": _linear_programming,
    "least squares": _least_squares,
    "exhaustive": _exhaustive,
}


def _usual(queries: Queries) -> Method:
    if isinstance(queries, HadamardQueries):
        return "hadamard"
    return "exhaustive" if np.asarray(queries).shape[1] <= MOST_EXHAUSTIVE else "least squares"


def _check(queries: Queries, answers: NDArray[np.float64], method: str, size: int) -> None:
    if method not in METHODS:
        raise InvalidArgument(f"method={method!r}: choose among {', '.join(METHODS)}")
    if (method == "hadamard") != isinstance(queries, HadamardQueries):
        raise InvalidArgument("the Hadamard attack goes with HadamardQueries(size), and they with no other attack")
    count = size if isinstance(queries, HadamardQueries) else len(queries)
    if answers.shape != (count,):
        raise InvalidArgument(f"{count} questions need {count} answers, not an array of shape {answers.shape}")


def _noise(noise: float | IntegerLoss, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
    if isinstance(noise, int | float):
        return rng.uniform(-noise, noise, count)
    return IntegerNoise(noise).draw(count, rng=rng).astype(np.float64)
