"""Viterbi's algorithm: the most likely path through a trellis, 32 words side by side."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bruit.codes._vector_code import aligned_empty
from bruit.codes.soft import SoftWords, lanes_of
from bruit.codes.trellis._bitten_kernels import best_circle
from bruit.codes.trellis._trellis_kernels import LANES, viterbi_lanes

if TYPE_CHECKING:
    from bruit.codes.trellis.convolutional import Convolutional

LARGEST = 254  # what the likelihoods of one step may add up to, so that sixteen steps stay within int16
AROUND = 10  # a long bitten word is decoded with this many register lengths of it repeated on each side


def best_path(code: "Convolutional", batch: SoftWords, *, mirrored: bool = False) -> NDArray[np.uint8]:
    """The register bits (words, steps) of the most likely path of each word.             [Viterbi 1967]

    Where two words are equally likely, `mirrored` finds another one.
    """
    steps = np.arange(code.steps)
    if code.ending != "bitten":
        return _read_through(code, batch, steps, mirrored=mirrored)
    around = AROUND * code.trellis.length
    if code.steps <= around:
        return _shortest_circles(code, batch, mirrored=mirrored)
    turned = _read_through(code, batch, np.arange(-around, code.steps + around) % code.steps, mirrored=mirrored)
    return turned[:, around:-around]


def _shortest_circles(code: "Convolutional", batch: SoftWords, *, mirrored: bool) -> NDArray[np.uint8]:
    """The most likely paths that start in the state in which they end, for short bitten words.

    The words are read once from any state to any state: a best path that closes is the best of all that do. Where it
    does not close, every state is tried. Silence before the word tells the state in which the path started.
    """
    memory = code.trellis.memory
    silence = np.full(memory, code.steps)
    path = _read_through(code, batch, np.concatenate([silence, np.arange(code.steps)]), mirrored=mirrored)
    unclosed = (path[:, :memory] != path[:, -memory:]).any(axis=1)
    path = np.ascontiguousarray(path[:, memory:])
    if unclosed.any():
        soft = np.zeros((code.steps * code.trellis.outputs, LANES), np.int16)
        rest, found = SoftWords(batch.likelihoods[unclosed], ()), path[unclosed]
        factors, limit = rest.factors(), min(127, LARGEST // code.trellis.outputs)
        for first in range(0, found.shape[0], LANES):
            used = lanes_of(rest, first, factors, code.place, soft, limit)
            for word in range(used):
                values = np.ascontiguousarray(soft[:, word])
                best_circle(values, code.trellis.patterns, code.trellis.outputs, int(mirrored), found[first + word])
        path[unclosed] = found
    return path


def _read_through(
    code: "Convolutional", batch: SoftWords, order: NDArray[np.int64], *, mirrored: bool
) -> NDArray[np.uint8]:
    """The best path over the steps in this order; step `code.steps` stands for one of which nothing was received.

    A bitten word starts and ends anywhere.
    """
    trellis, steps = code.trellis, code.steps
    soft = aligned_empty(((steps + 1) * trellis.outputs, LANES), np.int16)
    soft[:] = 0
    branches = aligned_empty((2, 1 << trellis.outputs, LANES), np.int16)
    metrics = aligned_empty((2, trellis.states, LANES), np.int16)
    choice = aligned_empty((order.size, trellis.states), np.uint32)
    bits = np.empty((LANES // 8, order.size), np.uint8)
    path = np.empty((batch.likelihoods.shape[0], order.size), np.uint8)
    factors = batch.factors()
    limit = min(127, LARGEST // trellis.outputs)
    flags = (
        trellis.outputs,
        int(trellis.plain),
        int(code.ending != "bitten"),
        int(code.ending == "zero"),
        int(mirrored),
    )
    patterns = np.roll(trellis.patterns, trellis.states) if mirrored else trellis.patterns
    for first in range(0, path.shape[0], LANES):
        lanes_of(batch, first, factors, code.place, soft, limit)
        turned = soft.reshape(steps + 1, -1)[order].reshape(-1, LANES) if code.ending == "bitten" else soft
        viterbi_lanes(turned, patterns, *flags, branches, metrics, choice, bits, path[first : first + LANES])
    return path
