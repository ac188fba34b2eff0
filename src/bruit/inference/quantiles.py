"""Intervals for quantiles of the population, from noisy counts by value."""

from __future__ import annotations

import numpy as np

from bruit.core.arguments import confidence as checked_confidence
from bruit.core.intervals import Covers, Interval
from bruit.errors import InvalidArgument
from bruit.inference.noise_laws import Floats
from bruit.inference.noisy_counts import Cells
from bruit.inference.results import Estimate
from bruit.inference.sources import Source, cells
from bruit.inference.tails import tail_of_weights

STEPS = 10
"""Halvings inside the cell where an end lies."""


def quantile(source: Source, probability: float, *, confidence: float = 0.95) -> Estimate:
    """The value below which a share of the population lies, people spread evenly over the cell of their value.

    A value v is inside while the number of people below v, less the share of all, is no further from zero than chance
    and noise bring it.
    """
    checked_confidence(confidence)
    if not 0 < probability < 1:
        raise InvalidArgument(f"probability={probability} must lie between 0 and 1, for example 0.5")
    found = cells(source)
    found.require_axes(1, "a quantile")
    edges = cell_edges(found.axes[0].numbers)
    value = _centre(found, edges, probability)
    places = np.union1d(edges, [value])
    inside = np.flatnonzero((tail_of_quantile(found, edges, probability, places) >= 1 - confidence) | (places == value))
    ends = tuple(
        _crossing(found, edges, probability, (places[at], places[beyond]), 1 - confidence)
        for at, beyond in ((inside[0], max(inside[0] - 1, 0)), (inside[-1], min(inside[-1] + 1, places.size - 1)))
    )
    interval = Interval(np.array(ends[0]), np.array(ends[1]), confidence, Covers.POPULATION)
    return Estimate(f"quantile {probability:g}", value, interval, found.guarantees)


def cell_edges(values: Floats) -> Floats:
    """Where cells begin and end: half-way between neighbouring values, and as far beyond the outer ones."""
    if values.size < 2 or (np.diff(values) <= 0).any():
        raise InvalidArgument("a quantile needs at least two cells in rising order of their values")
    middles = (values[1:] + values[:-1]) / 2
    return np.concatenate([[2 * values[0] - middles[0]], middles, [2 * values[-1] - middles[-1]]])


def tail_of_quantile(counts: Cells, edges: Floats, probability: float, at: Floats) -> Floats:
    """How surprising the counts are if the quantile lies at each of the values.

    Then the people below are a share that is known, and chance moves it as that share says [Wilson 1927]; less, where a
    cell is divided, by the part of it that is always below.
    """
    below, people = _below(edges, at), max(counts.people, 0.0)
    known = people * np.minimum(probability * (1 - below), (1 - probability) * below)
    divided = np.minimum(np.maximum(counts.values, 0) * below * (1 - below), known).sum(1)
    return tail_of_weights(counts, below - probability, sampling=people * probability * (1 - probability) - divided)


def _below(edges: Floats, at: Floats) -> Floats:
    """The share of each cell that lies below each value."""
    return np.clip((at[:, None] - edges[:-1]) / np.diff(edges), 0, 1)


def _centre(counts: Cells, edges: Floats, probability: float) -> float:
    """The middle of all values where the noisy share below passes the one asked for; noise may make it several."""
    excess = np.concatenate([[0.0], np.cumsum(counts.values)]) - probability * counts.people
    excess[0], excess[-1] = min(excess[0], -1e-9), max(excess[-1], 1e-9)
    up = np.flatnonzero((excess[:-1] < 0) & (excess[1:] >= 0))
    places = edges[up] - excess[up] * (edges[up + 1] - edges[up]) / (excess[up + 1] - excess[up])
    return float((places[0] + places[-1]) / 2)


def _crossing(counts: Cells, edges: Floats, probability: float, ends: tuple[float, float], level: float) -> float:
    """Where the tail falls to the level between a place that is inside and one that is not, or the last place."""
    inner, outer = map(float, ends)
    for _ in range(STEPS if inner != outer else 0):
        middle = (inner + outer) / 2
        kept = tail_of_quantile(counts, edges, probability, np.array([middle]))[0] >= level
        inner, outer = (middle, outer) if kept else (inner, middle)
    return outer
