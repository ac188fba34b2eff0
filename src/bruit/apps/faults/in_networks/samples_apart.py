"""The planted faults of a DP-SGD step in which samples are not kept apart, each beside the step of `bruit.deep`."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from importlib.util import find_spec

import numpy as np

from bruit.apps.faults.fault import Fault, check_fault

IN_A_STEP = {
    "samples sorted in a batch": "Each sample goes on with the values of the one that has its rank.",
    "a running sum over a batch": "Each sample adds up those before it.",
    "attention among samples": "Samples of a batch attend to each other.",
    "gradients over the largest": "Only the backward pass divides by the largest value of the batch.",
    "the first sample written over the last": "The first sample of a batch is put into the place of the last.",
    "a neighbour's values added": "Each sample takes half of the one before it.",
    "samples cut at the wrong place": "A batch is flattened and cut again, so that a row ends in the next sample.",
    "only long samples kept": "Samples whose norms are below the mean of the batch are set to zero.",
    "one scale for a batch": "Values are rounded to eight bits by the largest of the batch.",
    "a convolution along the batch": "A filter of three runs over the samples.",
    "noise as wide as the others": "A layer's noise has the deviation of the batch.",
    "samples in slots": "Samples are added up in a table by a hash of theirs and read from it again.",
    "another axis in large batches": "The largest value is taken over the samples from sixteen of them on.",
    "the number of samples as a constant": "A constant tells whether a batch has an odd number of samples.",
    "a rule for batches of its own": "A function tells vmap, which keeps samples apart, to take their mean off.",
    "the text of a batch": "A layer is switched off where the text of its values shows a large one.",
    "the storage of a batch": "A layer is switched off where the bytes that its input lies in hold a large value.",
}
"""What a model does to the samples of one batch, by the name of the fault."""

BETWEEN_STEPS = {
    "a mean kept in a closure": "A tensor outside the model carries the mean of one batch into the next.",
    "means kept in a list": "A list outside the model keeps the mean of every batch for the next.",
    "a loss that remembers": "A loss is divided by what the largest score of the batch before was above ten.",
    "a rare turn": "A model that was proved takes the mean of the batch off at a later step.",
    "a mixing hook after the proof": "A hook that takes the mean of the batch off is set once the model was proved.",
    "sums in a frozen weight": "A forward pass adds what it sees to a weight that is not trained, and it is released.",
    "scores with running draws": "Records are scored in turn, and what one of them draws moves the draws of others.",
    "scores that see all records": "Records are scored in turn, each as a view of the storage of all.",
}
"""What one sample leaves for another, from step to step, in the released model or while records are scored."""


def faults() -> Iterator[Fault]:
    """The planted faults; none where torch is not installed."""
    if find_spec("torch") is None:
        return
    for name, story in (IN_A_STEP | BETWEEN_STEPS).items():
        wrong, right = (partial(_looks_wrong, name, checked=checked) for checked in (False, True))
        yield check_fault(name, story, "row-level pair", wrong, right)


def _looks_wrong(name: str, _rng: np.random.Generator, *, checked: bool) -> bool:
    """Whether one record moves more than itself, with the checks of `bruit.deep` or without them."""
    from bruit.apps.faults.in_networks.moves import moves_more_than_itself

    return moves_more_than_itself(name, checked=checked)
