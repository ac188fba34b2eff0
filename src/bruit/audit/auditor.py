"""Measures a mechanism from outside: the epsilon it can at best have."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.audit import cells
from bruit.audit.bounds import epsilon_at_least
from bruit.audit.verdict import Verdict
from bruit.errors import InvalidArgument
from bruit.randomness import generator

Data = TypeVar("Data")
Mechanism = Callable[[Data, int, np.random.Generator], NDArray[Any]]
"""`mechanism(data, samples, rng)` gives `samples` independent outputs on `data`, one a row."""

Event = Callable[[NDArray[Any]], NDArray[np.bool_]]
"""Tells for each output whether the event happened."""

DIRECTIONS = 2
FEWEST_SAMPLES = 8


def audit(
    mechanism: Mechanism[Data],
    pair: tuple[Data, Data],
    *,
    claimed: float,
    samples: int,
    alarm: float,
    delta: float = 0.0,
    event: Event | None = None,
    rng: np.random.Generator | None = None,
) -> Verdict:
    """A lower bound on the epsilon of a mechanism, from its outputs on a pair of neighbours alone.

    If P[S] <= e^epsilon Q[S] + delta for every event S, then for any one of them too. Without a declared event, the
    event is the set of cells with the largest likelihood ratio in one half of the outputs; it is tried on the other
    half, in both directions, with Clopper–Pearson bounds that all hold but for the chance `alarm`. A low bound proves
    nothing: it says that this pair and these samples did not refute the claim.
    """
    _check(claimed, samples, alarm, delta)
    source = generator(rng)
    first, second = (_outputs(mechanism, data, samples, source) for data in pair)
    share = alarm / DIRECTIONS
    if event is not None:
        found = [
            (_tested(event(one), event(other), alarm=share, delta=delta), "declared")
            for one, other in ((first, second), (second, first))
        ]
    else:
        found = _learnt(*_numbered(first, second), alarm=share, delta=delta)
    bound, description = max(found, key=lambda pair: pair[0])
    return Verdict(bound, float(claimed), float(delta), float(alarm), samples, description)


def _learnt(first: NDArray[Any], second: NDArray[Any], *, alarm: float, delta: float) -> list[tuple[float, str]]:
    """For each direction, the bound of the event that looks best in the first half, tried on the second."""
    quarter, half = len(first) // 4, len(first) // 2
    grid = cells.learn(first[:half], second[:half])
    numbers = [grid.of(outputs) for outputs in (first, second)]
    ordering, choosing, trying = (
        [np.bincount(cell[part], minlength=grid.count) for cell in numbers]
        for part in (slice(quarter), slice(quarter, half), slice(half, None))
    )
    found = []
    for one, other in ((0, 1), (1, 0)):
        order = np.argsort(-(ordering[one] + 1) / (ordering[other] + 1), kind="stable")
        length = _best_length(choosing[one][order], choosing[other][order], half - quarter, alarm=alarm, delta=delta)
        event = np.sort(order[:length])
        hits, others = trying[one][event].sum(), trying[other][event].sum()
        bound = epsilon_at_least(hits, others, len(first) - half, alarm=alarm, delta=delta)
        found.append((float(bound), grid.describe(event)))
    return found


def _best_length(hits: NDArray[np.int64], others: NDArray[np.int64], trials: int, *, alarm: float, delta: float) -> int:
    """How many cells, from the largest likelihood ratio down, promise the largest bound.   [Neyman & Pearson 1933]

    The order comes from other outputs than these counts: a choice among noisy orders would flatter itself.
    """
    bounds = epsilon_at_least(2 * hits.cumsum(), 2 * others.cumsum(), 2 * trials, alarm=alarm, delta=delta)
    return int(bounds.argmax()) + 1


def _tested(inside: NDArray[np.bool_], outside: NDArray[np.bool_], *, alarm: float, delta: float) -> float:
    hits, others = np.asarray(inside, bool).sum(), np.asarray(outside, bool).sum()
    return float(epsilon_at_least(hits, others, len(inside), alarm=alarm, delta=delta))


def _outputs(mechanism: Mechanism[Data], data: Data, samples: int, rng: np.random.Generator) -> NDArray[Any]:
    outputs = np.asarray(mechanism(data, samples, rng))
    if outputs.ndim == 0 or len(outputs) != samples:
        raise InvalidArgument(
            f"the mechanism gave outputs of shape {outputs.shape} when {samples} were asked; "
            "mechanism(data, samples, rng) must give one row for each sample"
        )
    return outputs if outputs.ndim == 1 else outputs.reshape(samples, -1)


def _numbered(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Numbers as they are; texts and the like by their place among all."""
    if first.dtype.kind in "biuf" and second.dtype.kind in "biuf":
        return first * 1, second * 1  # truth values become 0 and 1
    both = np.concatenate([first, second])
    places = np.unique(both.astype(str), return_inverse=True)[1].reshape(both.shape)
    return places[: len(first)], places[len(first) :]


def _check(claimed: float, samples: int, alarm: float, delta: float) -> None:
    if not claimed >= 0:
        raise InvalidArgument(f"claimed={claimed}: give the epsilon the mechanism claims, at least 0")
    if isinstance(samples, bool) or not isinstance(samples, int) or samples < FEWEST_SAMPLES:
        raise InvalidArgument(f"samples={samples!r} must be a whole number, at least {FEWEST_SAMPLES}")
    if not 0 < alarm < 1:
        raise InvalidArgument(f"alarm={alarm}: give the chance of a false alarm, above 0 and below 1, such as 1e-9")
    if not 0 <= delta < 1:
        raise InvalidArgument(f"delta={delta} must be at least 0 and below 1")
