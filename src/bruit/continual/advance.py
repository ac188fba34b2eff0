"""Computes one period of a stream: adds the new data and fresh noise, and gives the numbers to publish."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit.continual.noise.buffers import Integers, empty, pack, published, step, unpack
from bruit.continual.noise.found_keys import past_buffers
from bruit.continual.plan import StreamPlan
from bruit.continual.store import StoredState
from bruit.continual.terms import StreamTerms
from bruit.randomness import discrete_gaussian

Added = NDArray[np.int64] | Mapping[str, int]
"""What a period adds: a number for each listed cell, or for each key that came."""


@dataclass(frozen=True)
class Period:
    """The result of one period of a stream: the secret state that is kept, and the numbers that are published."""

    state: tuple[bytes, bytes, str]
    values: NDArray[np.int64]
    labels: str


def empty_state(plan: StreamPlan) -> tuple[bytes, bytes]:
    """The totals and noise buffers before the first period, as bytes."""
    cells = plan.cells or 0
    return np.zeros(cells, "<i8").tobytes(), pack(empty(plan.factor, cells))


def added_by(vectors: polars.DataFrame, plan: StreamPlan) -> Added:
    """Sums people's contributions of one period for each cell."""
    summed = vectors.group_by("cell").agg(polars.col("value").sum())
    if plan.cells is None:
        return dict(zip(summed["cell"].to_list(), summed["value"].to_list(), strict=True))
    added = np.zeros(plan.cells, np.int64)
    added[summed["cell"].to_numpy()] = summed["value"].to_numpy()
    return added


def advance(terms: StreamTerms, state: StoredState, added: Added, rng: np.random.Generator) -> Period:
    """Computes the next period of a stream from its state and what the period adds; writes nothing."""
    totals = np.frombuffer(state.totals, "<i8").astype(np.int64)
    buffers = unpack(state.buffers, len(terms.plan.factor.poles))
    if isinstance(added, Mapping):
        return _advance_found(terms, state, totals, buffers, added, rng)
    with np.errstate(over="ignore"):
        totals += added
    buffers, values = _noisy(terms.plan, totals, buffers, rng)
    return Period((totals.tobytes(), pack(buffers), "[]"), values, "[]")


def _advance_found(
    terms: StreamTerms,
    state: StoredState,
    totals: NDArray[np.int64],
    buffers: Integers,
    added: Mapping[str, int],
    rng: np.random.Generator,
) -> Period:
    known: list[list[Any]] = json.loads(state.keys)  # [key, shown], in the order of arrival
    places = {key: place for place, (key, _) in enumerate(known)}
    new = sorted(key for key in added if key not in places)
    if new:
        past = past_buffers(terms.plan, state.period, len(new), rng)
        buffers = np.concatenate([buffers.reshape(len(past), -1), past], axis=1)
        totals = np.concatenate([totals, np.zeros(len(new), np.int64)])
        places |= {key: len(known) + place for place, key in enumerate(new)}
        known += [[key, False] for key in new]
    for key, number in added.items():
        totals[places[key]] += number
    buffers, values = _noisy(terms.plan, totals, buffers, rng)
    for place, value in enumerate(values):
        known[place][1] = bool(known[place][1] or value >= (terms.threshold or 0))
    shown = sorted(key for key, is_shown in known if is_shown)
    kept = (totals.tobytes(), pack(buffers), json.dumps(known, ensure_ascii=False))
    return Period(kept, values[[places[key] for key in shown]], json.dumps(shown, ensure_ascii=False))


def _noisy(
    plan: StreamPlan, totals: NDArray[np.int64], buffers: Integers, rng: np.random.Generator
) -> tuple[Integers, NDArray[np.int64]]:
    fresh = discrete_gaussian(plan.lattice.sigma**2, len(totals), rng=rng)
    after, noise = step(plan.factor, plan.lattice.spare, buffers, fresh)
    return after, published(totals, noise, plan.unit)
