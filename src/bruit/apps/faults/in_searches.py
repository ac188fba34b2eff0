"""Faults of choices between private models: what the best of several costs, and what its choice has seen."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from bruit.apps.faults.fault import Fault, audit_fault, check_fault
from bruit.apps.faults.in_noise import exponential, laplace
from bruit.core.guarantee import Assumption
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.ledger import Ledger
from bruit.privacy import BestOf, Gaussian, ZeroConcentrated, epsilon, rdp
from bruit.tables import within

Outputs = NDArray[Any]
STOP, RARE = 1 / 20, np.array([0.05, 0.3])
"""The chance that a search stops after a run, and those of its second best and best outputs."""

ORDER, SHIFT, RUNS = 2, 0.1, Fraction(1, 1000)
"""A book's Rényi order, how far one person shifts a run's normal output, and the chance that a search stops."""

DELTA = Fraction(1, 1000)
"""The delta of a search whose price is stated in epsilon and delta."""


def faults() -> Iterator[Fault]:
    """The planted faults, each beside the choice that is paid for."""
    story = "Of several private models the one with the best exact score is kept."
    scores = np.array([7, 6, 6]), np.array([6, 7, 6])
    yield audit_fault("hyper-parameters chosen for free", story, _best, _best_paid, scores)
    story = "The best of about twenty runs, each of them paid for with all of ε, is sold for one of them."
    yield audit_fault("a search priced as one run", story, _best_for_one, _best_for_three, (0, 1))
    story = "In a book of Rényi divergences the best of a thousand runs is sold for three of them."
    yield check_fault(
        "a search without its number of runs", story, "promise", _divergence_of_three, _divergence_of_best
    )
    story = "The best of a thousand runs is sold for the ε of one at a thousandth of δ; its tails are not paid."
    yield check_fault("a search without its tails", story, "promise", _price_without_tails, _price_with_tails)
    story = "A setting that was tried because the first one scored badly has a clean guarantee: only one has scored."
    yield check_fault("marked by two scores", story, "promise", _clean_until_two_score, _clean_after_a_score)
    story = "An ensemble draws rows with replacement and gives them to a paid fit, which counts each copy as a row."
    yield audit_fault("copies counted as rows", story, _counted_by_copies, _counted_once, (0, 1), small=100_000)


def _counted_by_copies(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return np.asarray(laplace(1, (samples,), rng) + data * rng.poisson(1, samples))


def _counted_once(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return np.asarray(laplace(1, (samples,), rng) + data * np.minimum(rng.poisson(1, samples), 1))


def _best(data: Outputs, samples: int, _rng: np.random.Generator) -> Outputs:
    return np.full(samples, data.argmax())


def _best_paid(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    return exponential(data, 0.5, samples, rng)


def _best_for_one(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return _best_run(data, 1.0, samples, rng)


def _best_for_three(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return _best_run(data, 1 / 3, samples, rng)


def _best_run(data: int, epsilon: float, samples: int, rng: np.random.Generator) -> Outputs:
    """The best of a geometric number of runs; on the neighbour one output is e^ε likelier, a better one rarer."""
    moved = np.exp(data * epsilon * np.array([1, -1]))
    middle, top = RARE * moved
    below = np.cumsum([1 - middle - top, middle])
    return np.searchsorted(below, rng.random(samples) ** (1 / rng.geometric(STOP, samples)), side="right")


def _divergence_of_three(_rng: np.random.Generator) -> bool:
    return _best_is_dearer(3 * ORDER * SHIFT**2 / 2)


def _divergence_of_best(_rng: np.random.Generator) -> bool:
    run = ZeroConcentrated(SHIFT**2 / 2, neighbours=ADD_OR_REMOVE_ONE)
    return _best_is_dearer(float(rdp(BestOf(run, shape=1, stop=RUNS), ORDER)))


def _best_is_dearer(claimed: float) -> bool:
    """Whether the best of a random number of normal outputs has a larger Rényi divergence than claimed.

    E[u^K] = stop u / (1 - (1 - stop) u) is the chance that no run is above its share u of all outputs.
    """
    edges = np.arange(-8, 8, 0.01)
    stop = float(RUNS)
    below = [stop * u / (1 - (1 - stop) * u) for u in (ndtr(edges), ndtr(edges - SHIFT))]
    one, other = (np.diff(each, prepend=0.0, append=1.0) for each in below)
    seen = (one > 0) & (other > 0)
    moment = np.sum(other[seen] * (one[seen] / other[seen]) ** ORDER)
    return bool(np.log(moment) / (ORDER - 1) > claimed)


NORMAL = Gaussian(1, neighbours=ADD_OR_REMOVE_ONE)


def _price_without_tails(_rng: np.random.Generator) -> bool:
    return _best_passes_delta(float(epsilon(NORMAL, delta=DELTA * RUNS, by="pld")))


def _price_with_tails(_rng: np.random.Generator) -> bool:
    return _best_passes_delta(float(epsilon(BestOf(NORMAL, shape=1, stop=RUNS), delta=DELTA, by="pld")))


def _best_passes_delta(claimed: float) -> bool:
    """Whether one output is likelier than claimed: outputs above 3.75 come next to the best, those below -2.5."""
    stop, seen = float(RUNS), []
    for shift in (0, 1):
        below = 1 - ndtr(-2.5 - shift) - np.array([ndtr(shift - 3.75), 0])
        seen.append(np.diff(stop * below / (1 - (1 - stop) * below))[0])
    return bool(seen[1] - np.exp(claimed) * seen[0] > DELTA)


def _clean_until_two_score(_rng: np.random.Generator) -> bool:
    """Whether no model is marked where it takes two that have scored."""
    scored, _models = _tried_again()
    return len(scored) < 2


def _clean_after_a_score(_rng: np.random.Generator) -> bool:
    _scored, models = _tried_again()
    return any(Assumption.UNPAID_SCORES not in model.guarantee_.assumes for model in models)


def _tried_again() -> tuple[list[float], list[Any]]:
    """The exact scores that were looked at, and both models: the second is fitted after the score of the first."""
    from bruit.learning import LinearRegression

    ledger = Ledger("trials", epsilon=2, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    rows, target, price = np.arange(4.0)[:, None], np.arange(4.0), ledger.budget(epsilon=1)
    first, second = (
        LinearRegression(domain=within(0, 3, grid=1), target=within(0, top, grid=1), budget=price) for top in (1, 3)
    )
    scores = [first.fit(rows, target).score(rows, target)]
    return scores, [first, second.fit(rows, target)]
