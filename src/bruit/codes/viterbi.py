"""Viterbi's algorithm: the most likely path through a trellis, 64 words side by side."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bruit.codes._trellis_kernels import LANES, viterbi_lanes
from bruit.codes.soft import Heard, lanes_of

if TYPE_CHECKING:
    from bruit.codes.convolutional import Convolutional

LARGEST = 254  # what the likelihoods of one step may add up to, so that sixteen steps stay within int16
AROUND = 10  # a bitten tail is decoded with this many register lengths of the word repeated on each side


def best_path(code: "Convolutional", heard: Heard) -> NDArray[np.uint8]:
    """The register bits (words, steps) of the most likely word.                          [Viterbi 1967]

    A bitten word is read round and round: its ends are repeated on the other side and cut off again.
    """
    trellis, steps = code.trellis, code.steps
    around = min(steps, AROUND * trellis.length) if code.ending == "bitten" else 0
    turn = np.arange(-around, steps + around) % steps
    soft = np.zeros((steps * trellis.outputs, LANES), np.int16)
    even, odd = np.empty((2, trellis.states * LANES), np.int16)
    choice = np.empty((turn.size, (trellis.states + 7) // 8 * LANES), np.uint8)
    path = np.empty((heard.likelihoods.shape[0], turn.size), np.uint8)
    factors = heard.factors()
    limit = min(127, LARGEST // trellis.outputs)
    flags = (trellis.outputs, int(trellis.plain), int(code.ending != "bitten"), int(code.ending == "zero"))
    for first in range(0, path.shape[0], LANES):
        lanes_of(heard, first, factors, code.place, soft, limit)
        turned = soft.reshape(steps, -1)[turn].reshape(-1, LANES) if around else soft
        viterbi_lanes(turned, trellis.patterns, trellis.signs, *flags, even, odd, choice, path[first : first + LANES])
    return path[:, around : around + steps]
