"""Lower bounds on epsilon or mu from how often one event was seen, whatever the law behind it."""

import numpy as np
from numpy.typing import NDArray
from scipy import special


def at_least(hits: NDArray[np.int64], trials: int, alarm: float) -> NDArray[np.float64]:
    """A lower confidence bound on a probability, wrong with chance at most `alarm`.   [Clopper & Pearson 1934]"""
    bound = special.betaincinv(np.maximum(hits, 1), trials - hits + 1, alarm)
    return np.where(hits > 0, bound, 0.0).astype(np.float64)


def at_most(hits: NDArray[np.int64], trials: int, alarm: float) -> NDArray[np.float64]:
    """An upper confidence bound on a probability, wrong with chance at most `alarm`.   [Clopper & Pearson 1934]"""
    bound = special.betainccinv(hits + 1, np.maximum(trials - hits, 1), alarm)
    return np.where(hits < trials, bound, 1.0).astype(np.float64)


def epsilon_at_least(
    hits: NDArray[np.int64], others: NDArray[np.int64], trials: int, *, alarm: float, delta: float
) -> NDArray[np.float64]:
    """A lower bound on epsilon from an event's `hits` on one data set and `others` on its neighbour.

    epsilon >= log((P[S] - delta) / Q[S]), with P[S] bounded from below and Q[S] from above, each at half the alarm.
    """
    numerator = np.maximum(at_least(hits, trials, alarm / 2) - delta, 0.0)
    with np.errstate(divide="ignore"):
        ratio: NDArray[np.float64] = np.log(numerator / at_most(others, trials, alarm / 2))
    return np.maximum(ratio, 0.0)


def mu_at_least(
    hits: NDArray[np.int64], others: NDArray[np.int64], trials: int, *, alarm: float
) -> NDArray[np.float64]:
    """A lower bound on the mu of Gaussian DP from an event's `hits` on one data set and `others` on its neighbour.

    mu >= Phi^-1(P[S]) - Phi^-1(Q[S]), with P[S] bounded from below and Q[S] from above.       [Nasr et al. 2023]
    """
    likely, rare = at_least(hits, trials, alarm / 2), at_most(others, trials, alarm / 2)
    known = (likely > 0) & (rare < 1)
    shift = special.ndtri(np.where(known, likely, 0.5)) - special.ndtri(np.where(known, rare, 0.5))
    return np.maximum(np.where(known, shift, 0.0), 0.0).astype(np.float64)
