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
FINE, SUREST = 1 << 10, 64  # parts of a typical likelihood, and typical ones, that count where circles are compared
AROUND = 10  # a long bitten word is decoded with this many register lengths of it repeated on each side


def best_path(code: "Convolutional", batch: SoftWords, *, mirrored: bool = False) -> NDArray[np.uint8]:
    """The register bits (words, steps) of the most likely path of each word.             [Viterbi 1967]

    Where two words are equally likely, `mirrored` finds another one.
    """
    steps = np.arange(code.steps)
    if code.ending != "bitten":
        return _read_through(code, batch, steps, mirrored=mirrored)
    around = AROUND * code.trellis.length
    if is_short_circle(code):
        return _shortest_circles(code, batch, mirrored=mirrored)
    turned = _read_through(code, batch, np.arange(-around, code.steps + around) % code.steps, mirrored=mirrored)
    return turned[:, around:-around]


def is_short_circle(code: "Convolutional") -> bool:
    """Whether every state is tried for the best path that ends where it starts."""
    return code.ending == "bitten" and code.steps <= AROUND * code.trellis.length


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
        path[unclosed] = best_circles(code, batch.chosen(unclosed), mirrored=mirrored)
    return path


def best_circles(code: "Convolutional", batch: SoftWords, *, mirrored: bool) -> NDArray[np.uint8]:
    """The most likely paths that start in the state in which they end: every state is tried, in finer numbers."""
    values = np.zeros((batch.likelihoods.shape[0], code.steps * code.trellis.outputs), np.int32)
    values[:, code.place] = np.rint(FINE * np.clip(batch.normalised().likelihoods, -SUREST, SUREST))
    path = np.empty((values.shape[0], code.steps), np.uint8)
    for word, out in zip(values, path, strict=True):
        best_circle(word, code.trellis.patterns, code.trellis.outputs, int(mirrored), out)
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
