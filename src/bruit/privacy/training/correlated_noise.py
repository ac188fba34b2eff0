"""The privacy loss and plan of training with correlated (banded) noise."""

import math
from fractions import Fraction

from bruit.core.guarantee import Assumption
from bruit.core.losses import Composed, Gaussian, Sampled, Scheme
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, Neighbours
from bruit.core.numbers import Exact
from bruit.errors import InvalidArgument
from bruit.privacy import TrainingPlan
from bruit.privacy.accountants import Orders
from bruit.privacy.calibration import calibrate_with_price
from bruit.privacy.training.plans import check_run, steps_of


def banded_loss(*, steps: int, bands: int, rate: Fraction, noise_multiplier: Exact, neighbours: Neighbours) -> Composed:
    """The loss of a run with banded noise: one record is in at most ceil(steps / bands) sampled Gaussian steps.

    ceil(T/b) Gaussian steps of noise σ on Poisson samples of rate b B/n; docs/theory_correlated_noise.md proves it
    [Choquette-Choo et al. 2023]
    """
    there = Gaussian(noise_multiplier, neighbours=ADD_OR_REMOVE_ONE)
    return Sampled(there, rate=rate, scheme=Scheme.POISSON, neighbours=neighbours) * -(-steps // bands)


def banded_plan(
    bands: int,
    *,
    size: int,
    batch_size: int,
    epochs: int,
    delta: Exact,
    neighbours: Neighbours,
    target_epsilon: Exact,
    by: str,
    orders: Orders = None,
) -> TrainingPlan:
    """Plans the run with banded noise that needs the least noise for a target epsilon."""
    chance = check_run(size, batch_size, epochs, delta)
    steps, rate = steps_of(size, batch_size, epochs), rate_within_group(bands, size, batch_size)

    def loss(level: Fraction) -> Composed:
        return banded_loss(steps=steps, bands=bands, rate=rate, noise_multiplier=level, neighbours=neighbours)

    level, price = calibrate_with_price(loss, epsilon=target_epsilon, delta=chance, by=by, orders=orders)
    public = (Assumption.PUBLIC_SIZE,) if neighbours is ADD_OR_REMOVE_ONE else ()
    return TrainingPlan(
        size=size,
        batch_size=batch_size,
        noise_multiplier=float(level),
        epochs=epochs,
        delta=float(chance),
        neighbours=neighbours,
        by=by,
        scheme=Scheme.POISSON,
        steps=steps,
        rate=float(rate),
        epsilon=math.nextafter(float(price.amount), math.inf),
        order=price.order,
        weak=10 * size * chance > 1,
        loss=loss(level),
        assumes=(Assumption.IDEALISED_ARITHMETIC, *public),
    )


def rate_within_group(bands: int, size: int, batch_size: int) -> Fraction:
    """The sampling rate within the group of records whose turn it is, such that the batch size stays the same."""
    rate = Fraction(bands * batch_size, size)
    if rate > 1:
        raise InvalidArgument(
            f"bands={bands} with batch_size={batch_size}: a group of about {size / bands:.6g} records cannot give such "
            f"a batch; of {size} records give at most bands={size // batch_size}, or a smaller batch_size"
        )
    return rate
