"""Faults of two collectors: what one could read if the other did not add its full noise."""

from collections.abc import Iterator

from bruit.aggregation import CountCircuit
from bruit.aggregation.views import full_noise, views_of_second
from bruit.apps.faults.fault import Fault, audit_fault

PAIR = ([1, 0, 1], [0, 0, 1])


def faults() -> Iterator[Fault]:
    """The planted faults, each beside the two collectors done right."""
    circuit = CountCircuit()
    right, halves = (views_of_second(circuit, full_noise(circuit, epsilon)) for epsilon in (1, 2))
    story = "Each collector adds half of the noise, so that only both together hide an answer."
    yield audit_fault("halves from two collectors", story, halves, right, PAIR)
    story = "Only the second collector adds noise, and takes it off again."
    none = views_of_second(circuit, lambda size, rng: rng.integers(1, size=size))
    yield audit_fault("no noise from one collector", story, none, right, PAIR)
