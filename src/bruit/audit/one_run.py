"""Audits one training run: from their scores, guesses which canaries were included at random in the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray
from scipy import special

from bruit.audit.tradeoffs import GAUSSIAN, Numbers, TradeOffs
from bruit.audit.verdict import Verdict
from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.randomness import generator, permutation

FEWEST_GUESSES = 16
"""The shortest list of guesses that is tried by itself: fewer right ones prove little."""

POINTS = 33
ROUNDS = 4
STRONGEST = 64.0
"""Strengths are searched up to here, four times among 33 points: to 6e-5."""

NO_MASS = 1e-18
"""Counts whose joint probability is below this are left out of a sum, which is raised by this much instead."""

Refuted = Callable[[Numbers, int, int, float], NDArray[np.bool_]]
"""`refuted(strengths, guesses, right, alarm)`: which strengths cannot explain so many right guesses."""


def audit_one_run(
    scores: ArrayLike,
    included: ArrayLike,
    *,
    claimed: float,
    alarm: float,
    delta: float = 0.0,
    guesses: int | None = None,
    rng: np.random.Generator | None = None,
) -> Verdict:
    """A lower bound on epsilon at delta, from the scores of one run's canaries.              [Steinke et al. 2023]

    Guesses are right at most as often as those of randomised response: if the run is (epsilon, delta)-private, then
    P[right >= v] <= P[B >= v] + 2 m delta max_i P[v > B >= v - i] / i for m canaries, where B is binomial with as many
    trials as guesses and the chance 1 / (1 + e^-epsilon). The scores may depend on one another in any way. Each coin
    must be fair and its own, and the scores must know the coins through the run alone. `guesses` is how many canaries
    are guessed, the highest scores as in and the lowest as out; left out, several numbers share the alarm. Equal scores
    are put into a random order, drawn from `rng`, since the order in which they are given may know the coins.
    """
    if not 0 <= delta < 1:
        raise InvalidArgument(f"delta={delta} must be at least 0 and below 1")
    placed = _rank_canaries(scores, included, generator(rng))

    def refutes(strengths: Numbers, count: int, right: int, share: float) -> NDArray[np.bool_]:
        return _tails(strengths, count, right, delta=delta, canaries=len(placed)) <= share

    return _best_bound(placed, refutes, claimed=claimed, alarm=alarm, delta=delta, guesses=guesses, measure="epsilon")


def audit_one_run_curve(
    scores: ArrayLike,
    included: ArrayLike,
    curves: TradeOffs = GAUSSIAN,
    *,
    claimed: float,
    alarm: float,
    guesses: int | None = None,
    rng: np.random.Generator | None = None,
) -> Verdict:
    """A lower bound on mu, or on the strength of any family of trade-off curves.         [Mahloujifar et al. 2024]

    If the run is f-private, the number N of right guesses among r of m canaries has, for every c,
    E[N; N >= c] / m <= 1 - f(E[r - N; N >= c - 1] / m). A tail that reaches the alarm forces mass below it, step by
    step; a strength is refuted when that adds up to more than the whole. Conditions are those of `audit_one_run`.
    """
    placed = _rank_canaries(scores, included, generator(rng))

    def refutes(strengths: Numbers, count: int, right: int, share: float) -> NDArray[np.bool_]:
        return _overfull(curves, strengths, count, right, canaries=len(placed), alarm=share)

    delta, measure = curves.delta, curves.measure
    return _best_bound(placed, refutes, claimed=claimed, alarm=alarm, delta=delta, guesses=guesses, measure=measure)


def _best_bound(
    placed: NDArray[np.bool_],
    refutes: Refuted,
    *,
    claimed: float,
    alarm: float,
    delta: float,
    guesses: int | None,
    measure: str,
) -> Verdict:
    """The best bound over several numbers of guesses, each tested at its share of the alarm."""
    if not claimed >= 0:
        raise InvalidArgument(f"claimed={claimed}: give the {measure} that is claimed, at least 0")
    if not 0 < alarm < 1:
        raise InvalidArgument(f"alarm={alarm}: give the chance of a false alarm, above 0 and below 1, such as 1e-3")
    tried = _lengths(len(placed)) if guesses is None else [_length(guesses, len(placed))]
    found = []
    for count in tried:
        right = _right(placed, count)
        bound = _strongest(lambda s, r=right, c=count: refutes(s, c, r, alarm / len(tried)))  # type: ignore[misc]
        found.append((bound, f"{right} of {count} guesses right"))
    bound, told = max(found, key=lambda pair: pair[0])
    return Verdict(bound, float(claimed), float(delta), float(alarm), len(placed), told, measure)


def _rank_canaries(scores: ArrayLike, included: ArrayLike, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Whether each canary was included, from the highest score to the lowest; equal scores in a random order.

    The order is drawn without the coins, so guesses stay a function of the scores and of noise of their own, which is
    all that the bounds ask for. The caller's order is no such function: canaries may be listed by their coins.
    """
    values, coins = np.asarray(scores, np.float64), np.asarray(included)
    if values.ndim != 1 or len(values) == 0 or coins.shape != values.shape:
        raise InvalidArgument(
            f"scores of shape {values.shape} and included of shape {coins.shape}: give one score and one truth value "
            "for each canary"
        )
    if coins.dtype != np.bool_:
        raise InvalidArgument(f"included holds {coins.dtype}: give truth values, such as included == 1")
    if np.isnan(values).any():
        raise InvalidArgument("a score is not a number: give a score to every canary")
    shuffled = permutation(len(values), rng=rng)
    return np.asarray(coins[shuffled[np.argsort(-values[shuffled], kind="stable")]], bool)


def _right(placed: NDArray[np.bool_], guesses: int) -> int:
    """How many guesses are right: the upper half of them says in, the lower half says out."""
    out = guesses // 2
    return int(placed[: guesses - out].sum() + (~placed[len(placed) - out :]).sum())


def _lengths(canaries: int) -> Sequence[int]:
    """The numbers of guesses to try: all, a quarter, a sixteenth …; noise hides all but the clearest canaries."""
    lengths = [canaries]
    while lengths[-1] // 4 >= FEWEST_GUESSES:
        lengths.append(lengths[-1] // 4)
    return lengths


def _length(guesses: int, canaries: int) -> int:
    return whole(guesses, "guesses", most=canaries, why="not more than there are canaries")


def _strongest(refutes: Callable[[Numbers], NDArray[np.bool_]]) -> float:
    """The largest refuted strength that is found; a weaker one promises more, so it is refuted too."""
    low, high = 0.0, STRONGEST
    for _ in range(ROUNDS):
        points = np.linspace(low, high, POINTS)
        found = np.flatnonzero(refutes(points))
        if len(found) == 0:
            return 0.0
        last = int(found[-1])
        low, high = float(points[last]), float(points[min(last + 1, POINTS - 1)])
    return low


def _tails(strengths: Numbers, guesses: int, right: int, *, delta: float, canaries: int) -> Numbers:
    """The largest chance that so many guesses or more are right, for each epsilon."""
    chances = special.expit(strengths)
    tail = np.asarray(scipy.stats.binom.sf(right - 1, guesses, chances), np.float64)
    if delta == 0 or right == 0:
        return tail
    steepest = np.array([_steepest(guesses, right, float(chance)) for chance in chances])
    return np.minimum(tail + 2 * canaries * delta * steepest, 1.0)


def _steepest(guesses: int, right: int, chance: float) -> float:
    """The largest P[right > B >= right - i] / i over i for B binomial; counts of no mass are rounded up to NO_MASS."""
    least = int(max(scipy.stats.binom.ppf(NO_MASS, guesses, chance), 0))
    if right <= least:
        return NO_MASS
    below = np.asarray(scipy.stats.binom.pmf(np.arange(right - 1, least - 1, -1), guesses, chance), np.float64).cumsum()
    return float((below / np.arange(1, len(below) + 1)).max()) + NO_MASS


def _overfull(
    curves: TradeOffs, strengths: Numbers, guesses: int, right: int, *, canaries: int, alarm: float
) -> NDArray[np.bool_]:
    """Whether each strength is refuted: so many right guesses, with chance `alarm`, would need probability above 1.

    `good` and `bad` are E[N; N >= c] / m and E[r - N; N >= c] / m, least where all the tail sits at `right`. The curve
    asks for bad >= f(1 - good) one step lower; what is missing must be put at N = c - 1.
    """
    whole = guesses / canaries
    good = np.full(len(strengths), alarm * right / canaries)
    bad = np.full(len(strengths), alarm * (guesses - right) / canaries)
    for count in range(right, 0, -1):
        missing = np.maximum(curves.least(strengths, np.minimum(good, whole)) - bad, 0.0)
        if not missing.any():
            break  # nothing changes any more
        bad = bad + missing
        good = good + missing * (count - 1) / (guesses - count + 1)
        if (good + bad > whole * (1 + 1e-9)).all():
            break
    return np.asarray(good + bad > whole * (1 + 1e-9), bool)
