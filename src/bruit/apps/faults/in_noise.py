"""Faults in the noise, which an audit of many outputs catches."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from fractions import Fraction
from math import comb, exp, log
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.faults.fault import Fault, Many, audit_fault
from bruit.channels import symmetric
from bruit.core.numbers import Exact, exactly
from bruit.randomness import discrete_gaussian, discrete_laplace

Outputs = NDArray[Any]
REPORTS = 50
YESES = 10
QUESTIONS = 20
PEOPLE = 20
SHUFFLED_EPSILON = 0.5


def laplace(scale: Exact, shape: tuple[int, ...], rng: np.random.Generator) -> NDArray[np.int64]:
    """Discrete Laplace noise of any shape."""
    return discrete_laplace(exactly(scale, "scale"), int(np.prod(shape)), rng=rng).reshape(shape)


def add_noise(scale: Exact) -> Many:
    """Returns a mechanism that adds fresh noise to every entry of a number or vector."""
    return lambda data, samples, rng: data + laplace(scale, (samples, *np.shape(data)), rng)


def faults() -> Iterator[Fault]:
    """The planted faults, each beside the mechanism done right."""
    yield from _scales()
    yield from _streams()
    yield from _shapes()
    yield from _choices()
    yield from _thresholds()
    yield from _surveys()


def _scales() -> Iterator[Fault]:
    right = add_noise(1)
    yield audit_fault("halved noise", "The scale is 1/(2ε).", add_noise("0.5"), right, (3, 4))
    yield audit_fault("5 % too little noise", "The scale is 0.95/ε.", add_noise("0.95"), right, (3, 4), small=400_000)
    yield audit_fault("wrong sensitivity", "A sum of values up to 10 is noised for 1.", right, add_noise(10), (0, 10))
    both = (np.array([2, 1]), np.array([1, 2]))
    yield audit_fault(
        "replacement counted once", "One vote moves two classes, noise for one.", right, add_noise(2), both
    )
    both = (np.array([3, 5]), np.array([4, 6]))
    story = "Counts by age and by sex of the same people are charged as if they were disjoint."
    yield audit_fault("overlapping groups in parallel", story, right, add_noise(2), both)
    story = "ε/10 is claimed for a sample of a tenth, but every row is used."
    yield audit_fault("amplified without sampling", story, right, add_noise(10), (3, 4), claimed=0.1)
    story = "Gaussian noise of deviation 1 is sold as ε = 1 without a δ."
    yield audit_fault("Gaussian sold as pure", story, _gaussian, right, (0, 1))


def _gaussian(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return data + discrete_gaussian(exactly(1, "variance"), samples, rng=rng)


def _streams() -> Iterator[Fault]:
    twice = (np.array([1, 0]), np.array([1, 1]))
    fresh = add_noise(1)
    yield audit_fault("noise not refreshed", "Two answers share one draw.", _shared_draw, fresh, twice)
    yield audit_fault("copied streams", "Two workers start from copies of one generator.", _copied_stream, fresh, twice)
    yield audit_fault("fixed seed", "The generator is seeded inside the function.", _seeded, add_noise(1), (3, 4))
    yield audit_fault(
        "floating-point Laplace",
        "-log(uniform) has holes among the floating numbers that tell what it was added to.",
        _floating,
        _on_a_grid,
        (0.0, 1.0),
        event=finer_than_one_allows,
    )


def _shared_draw(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    return data + laplace(1, (samples, 1), rng)


def _copied_stream(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    other = np.random.default_rng(rng.integers(0, 2**63))
    workers = (other, copy.deepcopy(other))
    return np.stack([value + laplace(1, (samples,), worker) for value, worker in zip(data, workers, strict=True)], 1)


def _seeded(data: int, samples: int, _rng: np.random.Generator) -> Outputs:
    return np.full(samples, data + int(laplace(1, (1,), np.random.default_rng(1))[0]))


def _floating(data: float, samples: int, rng: np.random.Generator) -> Outputs:
    signs = rng.choice([-1.0, 1.0], samples)
    return data - signs * np.log(1.0 - rng.random(samples))


def _on_a_grid(data: float, samples: int, rng: np.random.Generator) -> Outputs:
    """Noise on the grid of 2^-20, added exactly."""
    return data + laplace(2**20, (samples,), rng) / 2**20


def finer_than_one_allows(outputs: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which outputs are below 1/2 and no multiple of 2^-53, which 1 + noise never is.             [Mironov 2012]"""
    units = outputs * 2.0**53
    return np.asarray((np.abs(outputs) < 0.5) & (units != np.round(units)), bool)


def _shapes() -> Iterator[Fault]:
    right = add_noise(1)
    yield audit_fault("truncated noise", "Noise beyond ±3 is drawn again.", _truncated, right, (0, 1))
    yield audit_fault("one-sided noise", "Only its absolute value is added.", _one_sided, right, (0, 1))
    yield audit_fault("drawn until plausible", "Negative answers are drawn again.", _until_positive, _clamped, (0, 1))
    classes = (np.array([2, 0]), np.array([2, 1]))
    story = "Classes that nobody has get no noise."
    yield audit_fault("noise only on observed classes", story, _observed_only, right, classes)
    yield audit_fault(
        "small groups hidden by the true count", "Shown if the count is 3.", _hidden_small, _hidden_noisy, (2, 3)
    )
    story = "The noisy sum is divided by the exact number of rows."
    yield audit_fault(
        "exact size beside a noisy sum", story, _exact_size, add_noise("2"), (np.array([0, 3]), np.array([0, 4]))
    )
    story = "A median on a noisy rank still prints somebody's value."
    yield audit_fault("a record is the answer", story, _nearest_record, _grid_median, ((1, 5, 9), (1, 6, 9)))


def _truncated(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    noise = laplace(1, (samples,), rng)
    while (far := np.abs(noise) > 3).any():
        noise[far] = laplace(1, (int(far.sum()),), rng)
    return data + noise


def _one_sided(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return data + np.abs(laplace(1, (samples,), rng))


def _until_positive(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    answers = data + laplace(1, (samples,), rng)
    while (below := answers < 0).any():
        answers[below] = data + laplace(1, (int(below.sum()),), rng)
    return answers


def _clamped(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return np.maximum(data + laplace(1, (samples,), rng), 0)


def _observed_only(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    return np.where(data > 0, data + laplace(1, (samples, len(data)), rng), 0)


def _hidden_small(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return data + laplace(1, (samples,), rng) if data >= 3 else np.full(samples, -99)


def _hidden_noisy(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    noisy = data + laplace(1, (samples,), rng)
    return np.where(noisy >= 3, noisy, -99)


def _exact_size(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    return np.stack([data[0] + laplace(1, (samples,), rng), np.full(samples, data[1])], 1)


def _nearest_record(data: tuple[int, ...], samples: int, rng: np.random.Generator) -> Outputs:
    ranks = np.clip(1 + laplace(2, (samples,), rng), 0, len(data) - 1)
    return np.array(data)[ranks]


def _grid_median(data: tuple[int, ...], samples: int, rng: np.random.Generator) -> Outputs:
    """The exponential mechanism over a declared grid; one record moves a rank by at most one."""
    below = np.array([sum(value < point for value in data) for point in range(11)])
    return exponential(-np.abs(below - 1.5), 0.5, samples, rng)


def exponential(scores: NDArray[Any], half: float, samples: int, rng: np.random.Generator) -> Outputs:
    """Indices drawn with weights exp(half · score)."""
    weights = np.exp(half * scores)
    return rng.choice(len(scores), samples, p=weights / weights.sum())


def _choices() -> Iterator[Fault]:
    scores = np.array([1.0, *[0.0] * 50]), np.array([0.0, *[1.0] * 50])
    story = "Candidates are weighed by exp(ε score) instead of exp(ε score / 2)."
    yield audit_fault(
        "exponential mechanism without the half", story, _chosen(1.0), _chosen(0.5), scores, small=100_000
    )
    votes = np.array([1, 0]), np.array([0, 1])
    story = "Votes are chosen by as if one person moved them all the same way, but one is exchanged for another."
    yield audit_fault("monotone where people are exchanged", story, _first_flipped(1.0), _first_flipped(0.5), votes)
    story = "The scale is divided by the number of counts, as if noise averaged out, instead of left alone."
    yield audit_fault(
        "noise shared over counts", story, add_noise("0.05"), add_noise(1), (np.array([0, 1]), np.array([0, 2]))
    )


def _first_flipped(exponent: float) -> Many:
    """Permute-and-flip between two candidates: the one behind is met first half of the time and then takes its coin."""

    def many(votes: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
        best, coin = int(votes.argmax()), exp(-exponent * float(np.ptp(votes)))
        behind = (rng.random(samples) < 0.5) & (rng.random(samples) < coin)
        return np.where(behind, 1 - best, best)

    return many


def _chosen(half: float) -> Many:
    return lambda scores, samples, rng: exponential(scores, half, samples, rng)


def _thresholds() -> Iterator[Fault]:
    """The broken sparse-vector variants.                                                   [Lyu, Su & Li 2017]"""
    swapped = np.array([0, 1]), np.array([1, 0])
    story = "Only the threshold is noised, not the questions."
    yield audit_fault("sparse vector without question noise", story, _no_question_noise, _first_above, swapped)
    spread = np.zeros(QUESTIONS, int), np.repeat([1, -1], QUESTIONS // 2)
    story = "Answers yes as often as it likes for the price of one yes."
    yield audit_fault("sparse vector that never stops", story, _never_stops, _first_above, spread)
    story = "Stops after ten yeses, with question noise Lap(4/3) for one."
    yield audit_fault("sparse vector not scaled by its yeses", story, _ten_yeses, _first_above, spread)
    story = "Prints the noisy answer that passed, with the very noise that was compared."
    five = np.zeros(5, int), np.array([1, 1, 1, 1, -1])
    yield audit_fault("sparse vector that prints its answer", story, _prints_answer, _first_above, five, small=400_000)
    story = "The threshold gets no noise, so every no costs."
    both = np.zeros(6, int), np.ones(6, int)
    yield audit_fault("sparse vector without threshold noise", story, _no_threshold_noise, _first_above, both)


def _first_above(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    """The index of the first question above, at ε = 1: Lap(2) on the threshold, Lap(4) on each question."""
    above = data + laplace(4, (samples, len(data)), rng) >= laplace(2, (samples, 1), rng)
    return np.where(above.any(axis=1), above.argmax(axis=1), len(data))


def _no_question_noise(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    return data >= laplace(2, (samples, 1), rng)


def _never_stops(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    above = data + laplace(4, (samples, len(data)), rng) >= laplace(2, (samples, 1), rng)
    return _difference(above)


def _difference(above: Outputs) -> Outputs:
    """Yeses in the first half less those in the second: what the attacker looks at."""
    half = above.shape[1] // 2
    return np.asarray(above[:, :half].sum(axis=1) - above[:, half:].sum(axis=1))


def _ten_yeses(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    above = data + laplace(Fraction(4, 3), (samples, len(data)), rng) >= laplace(4, (samples, 1), rng)
    return _difference(above & (above.cumsum(axis=1) <= YESES))


def _prints_answer(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    noisy = data + laplace(2, (samples, len(data)), rng)
    above = noisy >= laplace(2, (samples, 1), rng)
    first = above.argmax(axis=1)
    return np.where(above.any(axis=1), 1000 * first + np.take_along_axis(noisy, first[:, None], 1)[:, 0], -1000)


def _no_threshold_noise(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    above = data + laplace(2, (samples, len(data)), rng) >= 1
    return np.where(above.any(axis=1), above.argmax(axis=1), len(data))


def _surveys() -> Iterator[Fault]:
    three = log(3)
    yield audit_fault(
        "RAPPOR that never flips a one", "Zeros are hidden, ones are told.", _ones_told, _flipped, (0, 1), claimed=three
    )
    story = "The permanent answer is drawn again for each of fifty reports."
    yield audit_fault("memory lost", story, _redrawn, _remembered, (0, 1), claimed=three)
    story = "Ten categories are randomised with the probability for two."
    yield audit_fault("probability of another alphabet", story, _two_for_ten, _ten, (0, 1))
    story = "Reports keep the order of the people, while the ε and δ of shuffled ones are claimed."
    neighbours = ((0,) * PEOPLE, (1, *[0] * (PEOPLE - 1)))
    delta = shuffled_delta(SHUFFLED_EPSILON)
    yield audit_fault(
        "shuffler left out", story, _unshuffled, _shuffled, neighbours, claimed=SHUFFLED_EPSILON, delta=delta
    )


def shuffled_delta(epsilon: float) -> float:
    """The exact δ of releasing the number of ones among all reports, the worst over the other people's answers."""
    worst = 0.0
    for ones in range(PEOPLE):
        others = np.convolve(_binomial(ones, 0.75), _binomial(PEOPLE - 1 - ones, 0.25))
        yes, no = np.convolve(others, [0.25, 0.75]), np.convolve(others, [0.75, 0.25])
        for one, other in ((yes, no), (no, yes)):
            worst = max(worst, float(np.maximum(one - exp(epsilon) * other, 0).sum()))
    return worst


def _binomial(trials: int, chance: float) -> NDArray[np.float64]:
    return np.array([comb(trials, hits) * chance**hits * (1 - chance) ** (trials - hits) for hits in range(trials + 1)])


def _flipped(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    """The true bit with probability 3/4: ε = log 3."""
    return np.where(rng.random(samples) < 0.75, data, 1 - data)


def _ones_told(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return np.full(samples, 1) if data else _flipped(data, samples, rng)


def _remembered(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    permanent = _flipped(data, samples, rng)
    return rng.binomial(REPORTS, np.where(permanent == 1, 0.75, 0.5))


def _redrawn(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    chance = 0.75 if data else 0.25
    return rng.binomial(REPORTS, chance * 0.75 + (1 - chance) * 0.5, samples)


def _two_for_ten(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    others = (data + rng.integers(1, 10, samples)) % 10
    return np.where(rng.random(samples) < exp(1) / (1 + exp(1)), data, others)


def _ten(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return symmetric(10, epsilon=1.0).send(np.full(samples, data), rng=rng)


def _unshuffled(data: tuple[int, ...], samples: int, rng: np.random.Generator) -> Outputs:
    return np.stack([_flipped(bit, samples, rng) for bit in data], 1)


def _shuffled(data: tuple[int, ...], samples: int, rng: np.random.Generator) -> Outputs:
    return np.asarray(_unshuffled(data, samples, rng).sum(axis=1))
