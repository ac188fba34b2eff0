"""Audits a mechanism as a black box: a lower bound on its epsilon from its outputs on two neighbouring data sets."""

from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.audit import bins
from bruit.audit.bounds import epsilon_at_least, mu_at_least
from bruit.audit.verdict import Verdict
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.randomness import generator

Data = TypeVar("Data")
Mechanism = Callable[[Data, int, np.random.Generator], NDArray[Any]]
"""`mechanism(data, samples, rng)` gives `samples` independent outputs on `data`, one a row."""

Event = Callable[[NDArray[Any]], NDArray[np.bool_]]
"""Tells for each output whether the event happened."""

Bounds = Callable[..., NDArray[np.float64]]
"""`bounds(hits, others, trials, alarm=...)`: what counts of an event on one data set and on the neighbour prove."""

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

    >>> from bruit.randomness import discrete_laplace
    >>> def count(rows, samples, rng):
    ...     return rows + discrete_laplace(1, samples, rng=rng)
    >>> asked = {"samples": 20_000, "alarm": 1e-6, "rng": np.random.default_rng(1)}
    >>> audit(count, (3, 4), claimed=1.0, **asked).passes, audit(count, (3, 4), claimed=0.5, **asked).passes
    (True, False)
    """
    _check(claimed, samples, alarm, delta)
    bounds = partial(epsilon_at_least, delta=delta)
    found, told = _stronger_direction(mechanism, pair, bounds, samples=samples, alarm=alarm, event=event, rng=rng)
    return Verdict(found, float(claimed), float(delta), float(alarm), samples, told)


def audit_gaussian(
    mechanism: Mechanism[Data],
    pair: tuple[Data, Data],
    *,
    claimed: float,
    samples: int,
    alarm: float,
    event: Event | None = None,
    rng: np.random.Generator | None = None,
) -> Verdict:
    """A lower bound on mu for a mechanism that claims to be mu-GDP, from its outputs on a pair of neighbours.

    mu >= Phi^-1(P[S]) - Phi^-1(Q[S]) for every event S, found and tried as in `audit`.         [Nasr et al. 2023]
    Every threshold on a Gaussian output shows all of its mu, where epsilon shows only in the tails.
    """
    _check(claimed, samples, alarm, 0.0)
    found, told = _stronger_direction(mechanism, pair, mu_at_least, samples=samples, alarm=alarm, event=event, rng=rng)
    return Verdict(found, float(claimed), 0.0, float(alarm), samples, told, "mu")


def _stronger_direction(
    mechanism: Mechanism[Data],
    pair: tuple[Data, Data],
    bounds: Bounds,
    *,
    samples: int,
    alarm: float,
    event: Event | None,
    rng: np.random.Generator | None,
) -> tuple[float, str]:
    """The larger bound of both directions, and its event."""
    source = generator(rng)
    first, second = (_outputs(mechanism, data, samples, source) for data in pair)
    share = alarm / DIRECTIONS
    if event is not None:
        happened = [_event_flags(event, outputs).sum() for outputs in (first, second)]
        both = (happened, happened[::-1])
        found = [(float(bounds(one, other, samples, alarm=share)), "declared") for one, other in both]
    else:
        found = _learnt(*_as_numbers(first, second), bounds=bounds, alarm=share)
    return max(found, key=lambda pair: pair[0])


def _learnt(first: NDArray[Any], second: NDArray[Any], *, bounds: Bounds, alarm: float) -> list[tuple[float, str]]:
    """For each direction, the bound of the event that looks best in the first half, tested on the second half."""
    quarter, half = len(first) // 4, len(first) // 2
    grid = bins.learn(first[:half], second[:half])
    numbers = [grid.of(outputs) for outputs in (first, second)]
    ordering, choosing, trying = (
        [np.bincount(cell[part], minlength=grid.count) for cell in numbers]
        for part in (slice(quarter), slice(quarter, half), slice(half, None))
    )
    found = []
    for one, other in ((0, 1), (1, 0)):
        order = np.argsort(-(ordering[one] + 1) / (ordering[other] + 1), kind="stable")
        length = _best_length(choosing[one][order], choosing[other][order], half - quarter, bounds=bounds, alarm=alarm)
        event = np.sort(order[:length])
        hits, others = trying[one][event].sum(), trying[other][event].sum()
        bound = bounds(hits, others, len(first) - half, alarm=alarm)
        found.append((float(bound), grid.describe(event)))
    return found


def _best_length(
    hits: NDArray[np.int64], others: NDArray[np.int64], trials: int, *, bounds: Bounds, alarm: float
) -> int:
    """How many cells, from the largest likelihood ratio down, promise the largest bound.   [Neyman & Pearson 1933]

    The order comes from other outputs than these counts: a choice among noisy orders would flatter itself.
    """
    return int(bounds(2 * hits.cumsum(), 2 * others.cumsum(), 2 * trials, alarm=alarm).argmax()) + 1


def _event_flags(event: Event, outputs: NDArray[Any]) -> NDArray[np.bool_]:
    """Whether the declared event happened in each output; refuses an event that gives anything but truth values."""
    said = np.asarray(event(outputs))
    if said.dtype != np.bool_ or said.shape != (len(outputs),):
        raise InvalidArgument(
            f"the event gave {said.dtype} of shape {said.shape} for {len(outputs)} outputs; it must give one truth "
            "value for each, such as lambda outputs: outputs > 0"
        )
    return said


def _outputs(mechanism: Mechanism[Data], data: Data, samples: int, rng: np.random.Generator) -> NDArray[Any]:
    outputs = np.asarray(mechanism(data, samples, rng))
    if outputs.ndim == 0 or len(outputs) != samples:
        raise InvalidArgument(
            f"the mechanism gave outputs of shape {outputs.shape} when {samples} were asked; "
            "mechanism(data, samples, rng) must give one row for each sample"
        )
    return outputs if outputs.ndim == 1 else outputs.reshape(samples, -1)


def _as_numbers(first: NDArray[Any], second: NDArray[Any]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Outputs as numbers: texts, and numbers no common type holds exactly, become their rank among all."""
    if first.shape[1:] != second.shape[1:]:  # rows of another width tell the two tables apart, whatever they hold
        return np.zeros(len(first)), np.ones(len(second))
    kinds = {first.dtype.kind, second.dtype.kind}
    if kinds <= set("biuf"):
        common = np.result_type(first, second)
        if all(np.can_cast(each.dtype, common, "safe") and _is_exact(each.dtype, common) for each in (first, second)):
            return _signed(first * 1, common), _signed(second * 1, common)  # truth values become 0 and 1
        both = np.concatenate([first.astype(object), second.astype(object)])  # numbers of any size, compared exactly
    elif len(kinds) == 1 and kinds <= set("USMmc"):
        both = np.concatenate([first, second])
    else:
        both = np.concatenate([_as_texts(first), _as_texts(second)])
    places = _places(both)
    return places[: len(first)], places[len(first) :]


def _signed(outputs: NDArray[Any], common: np.dtype[Any]) -> NDArray[Any]:
    """Numbers of which minus zero is one of its own, just below zero: whoever is given a float sees its sign."""
    if outputs.dtype.kind != "f":
        return outputs
    return np.where((outputs == 0) & np.signbit(outputs), -np.finfo(common).smallest_subnormal, outputs)


def _as_texts(outputs: NDArray[Any]) -> NDArray[np.str_]:
    """Objects as `repr` writes them: 1 and "1" differ."""
    return np.asarray(np.frompyfunc(repr, 1, 1)(outputs.astype(object)), dtype=str)


def _is_exact(own: np.dtype[Any], common: np.dtype[Any]) -> bool:
    """Whether every number of one kind is a number of the other: 64-bit integers are not all floats."""
    return own.kind not in "iu" or common.kind in "iu" or own.itemsize < common.itemsize


def _places(outputs: NDArray[Any]) -> NDArray[np.int64]:
    """The rank of each value among the distinct ones; NaN comes last."""
    empty = outputs != outputs
    values, places = np.unique(outputs[~empty], return_inverse=True)
    found = np.full(outputs.shape, len(values), np.int64)
    found[~empty] = places.reshape(-1)
    return found


def _check(claimed: float, samples: int, alarm: float, delta: float) -> None:
    if not claimed >= 0:
        raise InvalidArgument(f"claimed={claimed}: give the epsilon the mechanism claims, at least 0")
    whole(samples, "samples", least=FEWEST_SAMPLES)
    if not 0 < alarm < 1:
        raise InvalidArgument(f"alarm={alarm}: give the chance of a false alarm, above 0 and below 1, such as 1e-9")
    if not 0 <= delta < 1:
        raise InvalidArgument(f"delta={delta} must be at least 0 and below 1")
