"""Faults of private estimators: what they read from the data without paying."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.faults import in_searches
from bruit.apps.faults.fault import Fault, audit_fault, check_fault
from bruit.apps.faults.in_noise import add_noise, finer_than_one_allows, laplace
from bruit.apps.faults.in_sensitivity import CLIP, MOST, PEOPLE, clip, gradients, sensitivity_fault
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.ledger import Ledger
from bruit.tables import among, within

Outputs = NDArray[Any]
STEPS = 4
LOOKS = 7
PATIENCE = 10
WIDE, LONG = 8, 1e4
"""A layer's width, and an input so long that single precision loses a one added to its squares."""


def faults() -> Iterator[Fault]:
    """The planted faults, each beside the step done right."""
    yield from _trees()
    yield from in_searches.faults()
    yield from _unpaid_steps()
    yield from _gradients()
    yield from _people_and_features()


def _trees() -> Iterator[Fault]:
    story = "A random split lies between the least and the greatest value of the data."
    values = np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 9.0])
    yield audit_fault("bounds from data in a tree", story, _split_of_data, _split_of_bounds, values)
    story = "A leaf tells the class that most of its records have."
    counts = np.array([2, 1]), np.array([1, 2])
    yield audit_fault("exact labels of leaves", story, _majority, _noisy_majority, counts)
    story = "A branch without records ends, though the others are paid for."
    yield audit_fault("branches pruned by the true count", story, _pruned, _pruned_by_noise, (0, 1))


def _split_of_data(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    return rng.uniform(data.min(), data.max(), samples)


def _split_of_bounds(_data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    return rng.uniform(0, MOST, samples)


def _majority(data: Outputs, samples: int, _rng: np.random.Generator) -> Outputs:
    return np.full(samples, data.argmax())


def _noisy_majority(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    return np.asarray((data + laplace(2, (samples, len(data)), rng)).argmax(axis=1))


def _pruned(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return data + laplace(1, (samples,), rng) if data > 0 else np.full(samples, -99)


def _pruned_by_noise(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    noisy = data + laplace(1, (samples,), rng)
    return np.where(noisy > 0, noisy, -99)


def _unpaid_steps() -> Iterator[Fault]:
    story = "A fit stops after its charge where no row has a stated label: the error tells that one more row had."
    yield check_fault("an error where nobody counts", story, "row-level pair", _stops_at_nobody, _fits_nobody)
    story = "Columns are scaled by their exact means before a model that is paid for."
    yield audit_fault("scaled outside the budget", story, _scaled_by_moments, _scaled_by_bounds, (0, 1))
    story = "The log losses of rows are summed as they are, with noise for a loss of one."
    yield audit_fault("log losses never clipped", story, _unclipped, _clipped, (0.5, 1e-3))
    story = "Training stops when the exact loss on private records stops falling."
    yield audit_fault("early stopping on private records", story, _stopped, _never_stopped, (PATIENCE, PATIENCE + 1))
    story = "The noise of one step is kept for all."
    steps = np.zeros(STEPS, int), np.eye(1, STEPS, dtype=int)[0]
    yield audit_fault("one noise for all steps", story, _one_noise, _fresh_noises, steps)
    story = "What is exact is added to the mean of seven noises, which was rounded before."
    looks = (_rounded_first, _whole_first, (0, 1))
    yield audit_fault("a mean of noises rounded first", story, *looks, event=finer_than_one_allows)


def _stops_at_nobody(_rng: np.random.Generator) -> bool:
    """Whether columns are laid side by side in as many rows as there are: of none, their number is not known."""
    return _says_how_many(lambda rows: np.array([np.zeros(rows)] * 2).reshape(-1, rows))


def _fits_nobody(_rng: np.random.Generator) -> bool:
    from bruit.learning import LogisticRegression

    domain = [among([str(place) for place in range(50)]), within(0, 1, grid=1)]
    ledger = Ledger("nobody", epsilon=2, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    model = LogisticRegression(domain=domain, classes=["no", "yes"], budget=ledger.budget(epsilon=1))
    return _says_how_many(lambda rows: model.fit([["0", "1"]], ["yes" if rows else "never stated"]))


def _says_how_many(read: Callable[[int], object]) -> bool:
    """Whether no row and one row differ by an error."""
    ends = []
    for rows in (0, 1):
        try:
            read(rows)
            ends.append("answer")
        except ValueError as error:
            ends.append(type(error).__name__)
    return ends[0] != ends[1]


def _scaled_by_moments(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    """The exact mean of the data, which every prediction would reveal, beside a noisy model."""
    return np.stack([np.full(samples, data / 3), laplace(1, (samples,), rng)], 1)


def _scaled_by_bounds(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return np.stack([np.full(samples, 0.5), data + laplace(1, (samples,), rng)], 1)


def _unclipped(chance: float, samples: int, rng: np.random.Generator) -> Outputs:
    return np.asarray(np.round(-np.log(chance)) + laplace(1, (samples,), rng))


def _clipped(chance: float, samples: int, rng: np.random.Generator) -> Outputs:
    return np.asarray(np.round(np.minimum(-np.log(chance), 1.0)) + laplace(1, (samples,), rng))


def _stopped(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    """The number of steps taken, stopping by the data's own count, and a noisy output beside it."""
    return np.stack([np.full(samples, data > PATIENCE), laplace(1, (samples,), rng)], 1)


def _never_stopped(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return np.stack([np.zeros(samples, int), data + laplace(1, (samples,), rng)], 1)


def _one_noise(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    """Adds the same noise to every step: each step is private, but differences between steps are exact."""
    return data + laplace(STEPS, (samples, 1), rng)


def _fresh_noises(data: Outputs, samples: int, rng: np.random.Generator) -> Outputs:
    return data + laplace(STEPS, (samples, STEPS), rng)


def _rounded_first(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return np.asarray(data + laplace(LOOKS, (samples, LOOKS), rng).mean(axis=1))


def _whole_first(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    return np.asarray((data + laplace(LOOKS, (samples, LOOKS), rng)).sum(axis=1) / LOOKS)


def _gradients() -> Iterator[Fault]:
    story = "Records are normalised over the batch, so that one moves the gradients of all."
    yield sensitivity_fault("normalised over the batch", story, _over_the_batch, _over_the_record, gradients, 2 * CLIP)
    story = "The sum is divided by the number of records that were drawn."
    yield sensitivity_fault("divided by the drawn batch", story, _drawn_mean, _expected_mean, _few, CLIP / PEOPLE)
    story = "A record at which the loss raises an error takes the whole batch with it."
    asked = (_batch_fails, _record_fails, _with_one_that_fails, CLIP)
    yield sensitivity_fault("an error that drops the batch", story, *asked)
    story = "Residuals are clipped, the features they are multiplied with are not."
    yield sensitivity_fault("features never scaled", story, _unscaled, _scaled, _examples, 2 * CLIP)


def _over_the_batch(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clip((rows - rows.mean(axis=0)) / rows.std(axis=0)).sum(axis=0), np.float64)


def _over_the_record(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    means, deviations = rows.mean(axis=1, keepdims=True), rows.std(axis=1, keepdims=True)
    return np.asarray(clip((rows - means) / deviations).sum(axis=0), np.float64)


def _few(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A small batch, and the same without one record."""
    rows = rng.normal(size=(3, 3))
    return rows, rows[1:]


def _drawn_mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clip(rows).mean(axis=0), np.float64)


def _expected_mean(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clip(rows).sum(axis=0) / PEOPLE, np.float64)


def _with_one_that_fails(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A batch of long gradients of one direction, and the same with a record that has none."""
    rows = np.abs(rng.normal(size=(PEOPLE, 4))) + CLIP
    return rows, np.vstack([rows, np.full(4, np.nan)])


def _batch_fails(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.zeros(rows.shape[1]) if np.isnan(rows).any() else np.asarray(clip(rows).sum(axis=0), np.float64)


def _record_fails(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clip(rows[~np.isnan(rows).any(axis=1)]).sum(axis=0), np.float64)


def _examples(rng: np.random.Generator) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Features, and a residual in the last column."""
    one = rng.normal(size=(PEOPLE, 4))
    other = one.copy()
    other[0] = 100 * rng.normal(size=4)
    return one, other


def _unscaled(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    residuals = np.clip(rows[:, -1:], -CLIP, CLIP)
    return np.asarray((residuals * rows[:, :-1]).sum(axis=0), np.float64)


def _scaled(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(clip(rows[:, -1:] * rows[:, :-1]).sum(axis=0), np.float64)


def _people_and_features() -> Iterator[Fault]:
    story = "A person has two rows, and the noise is that for one."
    yield audit_fault("a person's rows ignored", story, add_noise(1), add_noise(2), (3, 5))
    story = "The covariance that features are whitened by gets no noise; the steps after it do."
    yield audit_fault("whitening without noise", story, _exact_whitening, _noisy_whitening, (3, 4))
    story = "Two long positions nearly cancel, and rounding makes the norm of their sum zero."
    yield sensitivity_fault("norm that cancels", story, _by_products, _by_gradient, _cancelling, CLIP)


def _exact_whitening(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    """How a direction is stretched, beside a step with its noise."""
    return np.stack([np.full(samples, 1 / np.sqrt(1 + data)), data + laplace(1, (samples,), rng)], 1)


def _noisy_whitening(data: int, samples: int, rng: np.random.Generator) -> Outputs:
    noisy = data + laplace(2, (samples, 2), rng)
    return np.stack([1 / np.sqrt(1 + np.maximum(noisy[:, 0], 0)), noisy[:, 1]], 1)


def _cancelling(rng: np.random.Generator) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Inputs at two positions, whose sum is short and along the first axis; and the same without one record."""
    rows = rng.normal(size=(PEOPLE, 2, WIDE))
    far = LONG * rng.normal(size=WIDE - 1)
    rows[0] = [[0, *far], [1, *-far]]
    short = rows.astype(np.float32)
    return short, short[1:]


def _by_products(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    """Norms from products between positions in single precision (docs/deep_steps.md), with no room for rounding."""
    outputs = np.ones((len(rows), 2, WIDE), np.float32)
    products = (rows @ rows.transpose(0, 2, 1)) * (outputs @ outputs.transpose(0, 2, 1))
    norms = np.sqrt(np.maximum(products.sum((1, 2)), np.finfo(np.float32).tiny))
    return _sum_of_clipped(rows, norms)


def _by_gradient(rows: NDArray[np.float32]) -> NDArray[np.float64]:
    return _sum_of_clipped(rows, np.linalg.norm(rows.astype(float).sum(1), axis=1) * np.sqrt(WIDE))


def _sum_of_clipped(rows: NDArray[np.float32], norms: NDArray[Any]) -> NDArray[np.float64]:
    """The sum of gradients whose rows are all the sum of the inputs, each scaled by its norm."""
    weights = np.minimum(1, CLIP / norms.astype(float))
    return np.tile(weights @ rows.astype(float).sum(1), (WIDE, 1))
