"""Choice of the message positions of a polar code by channel polarisation, and the decoding schedule."""

from functools import cache, lru_cache
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.codes.low_density.standards import lines_of
from bruit.codes.polar_codes._kernels import COMBINE, FIRST_HALF, FREE, FROZEN, REPEATED, SECOND_HALF
from bruit.core.arguments import number, one_of, share, whole
from bruit.errors import InvalidArgument

Construction = Literal["5G", "erasure", "gaussian"]
LONGEST = 1 << 16
LARGE = 20.0  # from this mean on φ ≈ √(π/m) e^(−m/4) (1 − 10/(7m))   [Chung, Richardson & Urbanke 2001, Lemma 1]
MOST_STEPS = 26  # a channel takes eight bytes
STANDARD = 1024  # the longest code that the sequence of the standard orders


@cache
def nr_sequence() -> NDArray[np.int64]:
    """The places of 1024 bits, the least reliable first.                  [3GPP TS 38.212, Table 5.3.1.2-1]"""
    return np.array([int(field) for fields in lines_of("nr_polar.txt") for field in fields])


def polarise(loss: float, *, steps: int) -> NDArray[np.float64]:
    """The erasure probabilities of the 2^steps polarised channels of an erasure channel, in decoding order.

    Two uses of a channel with loss z become one with loss 2z − z² and one with loss z²; all of theirs follow. The mean
    stays, and almost all become 0 or 1. For any other binary channel that treats 0 and 1 alike, such as randomised
    response, start from its Bhattacharyya parameter, 2√(p(1 − p)) for errors with chance p: the results bound those of
    the channels it becomes, each of which then errs at most half as often.    [Arıkan 2009, Propositions 2, 5 and 7]
    """
    if number(loss, "loss", most=1) < 0:
        raise InvalidArgument(f"loss={loss} is negative; give a chance from 0 to 1")
    losses = np.array([loss], np.float64)
    for _ in range(whole(steps, "steps", least=0, most=MOST_STEPS)):
        losses = np.stack([2 * losses - losses**2, losses**2], axis=1).reshape(-1)
    return losses


def gaussian_means(snr: float, *, steps: int) -> NDArray[np.float64]:
    """Approximate mean log-likelihood ratios of the 2^steps polarised Gaussian channels. [Trifonov 2012, Section III]

    φ(m) = 1 − E tanh(L/2) for L ~ N(m, 2m) turns the worse of two channels into one mean: φ⁻¹(1 − (1 − φ(m))²); the
    better one has mean 2m.
    """
    means = np.array([2 * snr], np.float64)
    for _ in range(steps):
        worse = _log_phi_inverse(np.log(2) + _log_phi(means) + np.log1p(-0.5 * np.exp(_log_phi(means))))
        means = np.stack([worse, 2 * means], axis=1).reshape(-1)
    return means


@lru_cache(maxsize=1)
def _phi_table() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The logarithm of φ on a grid of logarithms of m, by quadrature of 1 − tanh(L/2) = 2 / (1 + e^L)."""
    nodes, weights = np.polynomial.hermite_e.hermegauss(127)
    grid = np.linspace(np.log(1e-9), np.log(1e5), 4000)
    mean = np.exp(grid)
    near = mean < LARGE
    chances = special.expit(-(mean[near, None] + np.sqrt(2 * mean[near, None]) * nodes))
    inner = np.log(2 * chances @ (weights / weights.sum()))
    far = mean[~near]
    tail = -far / 4 + 0.5 * np.log(np.pi / far) + np.log1p(-10 / (7 * far))
    return grid, np.concatenate([inner, tail])


def _log_phi(means: NDArray[np.float64]) -> NDArray[np.float64]:
    grid, values = _phi_table()
    return np.interp(np.log(means), grid, values)


def _log_phi_inverse(values: NDArray[np.float64]) -> NDArray[np.float64]:
    grid, table = _phi_table()
    return np.exp(np.interp(-values, -table, grid))


def reliability(length: int, construction: Construction, level: float) -> NDArray[np.int64]:
    """The places of a word of 2^m bits, the least reliable first.

    "erasure" is for a loss of `level`, "gaussian" for a ratio of powers of `level`; "5G" needs none.
    """
    steps = length.bit_length() - 1
    one_of(construction, "construction", get_args(Construction))
    number(level, "level", above=0)
    if construction == "5G":
        if length > STANDARD:
            raise InvalidArgument(f"length={length}: the sequence of 5G ends at 1024; choose another construction")
        sequence = nr_sequence()
        return sequence[sequence < length]
    if construction == "erasure":
        return np.argsort(-polarise(share(level, "level"), steps=steps), kind="stable")
    return np.argsort(gaussian_means(level, steps=steps), kind="stable")


def plan_of(free: NDArray[np.bool_]) -> NDArray[np.int64]:
    """The decoding schedule for these message places: (action, stage, whether the node is a right child).

    Nodes without a message bit, with one at their end, and with nothing else are decided at once.
    """
    steps: list[tuple[int, int, int]] = []

    def visit(first: int, stage: int, right: int) -> None:
        part = free[first : first + (1 << stage)]
        if not part.any():
            steps.append((FROZEN, stage, right))
        elif part.all():
            steps.append((FREE, stage, right))
        elif part[-1] and not part[:-1].any():
            steps.append((REPEATED, stage, right))
        else:
            half = 1 << (stage - 1)
            steps.append((FIRST_HALF, stage, right))
            visit(first, stage - 1, 0)
            steps.append((SECOND_HALF, stage, right))
            visit(first + half, stage - 1, 1)
            steps.append((COMBINE, stage, right))

    visit(0, free.size.bit_length() - 1, 1)
    return np.array(steps)
