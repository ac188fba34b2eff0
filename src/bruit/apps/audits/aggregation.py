"""Audits of two collectors: what one cheating collector sees after removing its own noise, with an honest other."""

from collections.abc import Iterator

from bruit.aggregation import CountCircuit, HistogramCircuit, SumCircuit
from bruit.aggregation.views import full_noise, views_of_second
from bruit.apps.audits.case import EPSILON, Case
from bruit.core.neighbours import REPLACE_ONE, Neighbours


def cases(neighbours: Neighbours) -> Iterator[Case]:
    """Cases with one person's answer replaced by another, in a batch of three; the number of reports is public."""
    if neighbours is not REPLACE_ONE:
        return
    for circuit, pair in (
        (CountCircuit(), ([1, 0, 1], [0, 0, 1])),
        (SumCircuit(largest=5), ([5, 1, 2], [0, 1, 2])),
        (HistogramCircuit(length=3, chunk=2), ([0, 2, 2], [1, 2, 2])),
    ):
        view = views_of_second(circuit, full_noise(circuit, EPSILON))
        yield Case(f"aggregation.{circuit.name}", neighbours, pair, view, full=300_000)
