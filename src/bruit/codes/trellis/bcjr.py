"""The BCJR algorithm: the posterior probability of each single bit, given the whole received word."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bruit.codes.soft import SoftWords
from bruit.codes.trellis._bcjr_kernels import bcjr_max, bcjr_sum
from bruit.codes.trellis.viterbi import AROUND

if TYPE_CHECKING:
    from bruit.codes.trellis.convolutional import Convolutional

SUREST = 80.0  # a bit is wrong with chance e^−80 at this log-likelihood: more would only underflow


def posterior(code: "Convolutional", batch: SoftWords, *, exact: bool) -> NDArray[np.float64]:
    """The posterior log-likelihood ratios log p(0)/p(1) of the message bits (words, k).

    Summed over all paths, or taken from the best path for each value. The exact sums need log-likelihoods in their
    true scale.                                                                           [Bahl et al. 1974]
    """
    trellis, steps = code.trellis, code.steps
    around = min(steps, AROUND * trellis.length) if code.ending == "bitten" else 0
    turn = np.arange(-around, steps + around) % steps
    likelihoods = np.zeros(steps * trellis.outputs)
    prior = np.zeros(turn.size)
    register, coded = np.empty(turn.size), np.empty((turn.size, trellis.outputs))
    result = np.empty((batch.likelihoods.shape[0], code.k))
    flags = (trellis.patterns, trellis.outputs, int(code.ending != "bitten"), int(code.ending == "zero"))
    run = bcjr_sum if exact else bcjr_max
    for word, values in enumerate(batch.likelihoods):
        likelihoods[code.place] = np.clip(values, -SUREST, SUREST) if exact else values
        run(likelihoods.reshape(steps, -1)[turn], prior, *flags, register, coded)
        said = coded[:, 0] if code.feedback else register
        result[word] = said[around : around + code.k]
    return result
