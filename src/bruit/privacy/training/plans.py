"""Plans a training budget before the training: the epsilon of a run, or the noise multiplier it needs."""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from bruit.core.arguments import whole
from bruit.core.guarantee import Assumption, Guarantee
from bruit.core.losses import Composed, Gaussian, Sampled, Scheme
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE, Neighbours
from bruit.core.numbers import Exact, exactly, positive, probability
from bruit.errors import InvalidArgument
from bruit.privacy.accountants import Orders, epsilon_price
from bruit.privacy.calibration import calibrate_with_price

_KEYS = {"noise_multiplier": "noise"}
"""What a plan is called in JSON where that differs from its name: files of 1.0 are still read."""


@dataclass(frozen=True)
class TrainingPlan:
    """A run of DP-SGD (its size, batch, noise, epochs) and what it costs.

    `noise_multiplier` is the deviation of the noise over the bound on one record's gradient, whatever the neighbours.
    `weak` says that delta is above a tenth of one over the size: a mechanism that publishes a whole record of one in
    ten such data sets would pass.
    """

    size: int
    batch_size: int
    noise_multiplier: float
    epochs: int
    delta: float
    neighbours: Neighbours
    by: str
    scheme: Scheme
    steps: int
    rate: float
    epsilon: float
    order: float | None
    weak: bool
    loss: Composed
    assumes: tuple[Assumption, ...]

    def guarantee(self, person: str) -> Guarantee:
        """The guarantee of the run for each person, for instance for each row."""
        exact = Fraction(self.epsilon)
        return Guarantee(exact, Fraction(repr(self.delta)), self.neighbours, person, self.by, self.assumes)

    def to_json(self) -> dict[str, Any]:
        """Everything in JSON types."""
        plain = {_KEYS.get(name, name): value for name, value in vars(self).items() if name not in ("loss", "assumes")}
        texts = {"neighbours": self.neighbours.value, "scheme": self.scheme.value}
        return plain | texts | {"assumes": [item.value for item in self.assumes], "loss": self.loss.to_json()}


def plan(
    *,
    size: int,
    batch_size: int,
    epochs: int,
    delta: Exact,
    neighbours: Neighbours,
    noise_multiplier: Exact | None = None,
    target_epsilon: Exact | None = None,
    by: str = "pld",
    scheme: Scheme = Scheme.POISSON,
    orders: Orders = None,
) -> TrainingPlan:
    """Prices a run at a noise multiplier, or finds the noise multiplier that a target epsilon needs.

    steps = epochs * ceil(size / batch_size), rate = batch_size / size                        [docs/spec.md S2.11]

    >>> from bruit.privacy import ADD_OR_REMOVE_ONE, plan
    >>> run = {"size": 60_000, "batch_size": 64, "epochs": 15, "delta": 1e-6, "neighbours": ADD_OR_REMOVE_ONE}
    >>> round(plan(**run, noise_multiplier=1.0).epsilon, 2)
    0.71
    >>> plan(**run, target_epsilon=0.5).epsilon <= 0.5
    True
    """
    if (noise_multiplier is None) == (target_epsilon is None):
        raise InvalidArgument("give either noise_multiplier=... or target_epsilon=..., one of the two")
    chance = check_run(size, batch_size, epochs, delta)

    def loss(level: Fraction) -> Composed:
        return training_loss(
            size=size,
            batch_size=batch_size,
            epochs=epochs,
            noise_multiplier=level,
            neighbours=neighbours,
            scheme=scheme,
        )

    if noise_multiplier is not None:
        level = _above_zero(noise_multiplier)
        price = epsilon_price(loss(level), delta=chance, by=by, orders=orders)
    else:
        assert target_epsilon is not None
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
        scheme=scheme,
        steps=steps_of(size, batch_size, epochs),
        rate=batch_size / size,
        epsilon=math.nextafter(float(price.amount), math.inf),
        order=price.order,
        weak=10 * size * chance > 1,
        loss=loss(level),
        assumes=(Assumption.IDEALISED_ARITHMETIC, *public),
    )


def _above_zero(noise_multiplier: Exact) -> Fraction:
    level = exactly(noise_multiplier, "noise_multiplier")
    if level <= 0:
        raise InvalidArgument(
            f"noise_multiplier={noise_multiplier} must be above zero: without noise no epsilon is finite; try 1.0"
        )
    return level


def steps_of(size: int, batch_size: int, epochs: int) -> int:
    """The number of steps of a run: epochs times ceil(size / batch_size)."""
    return epochs * -(-size // batch_size)


def training_loss(
    *,
    size: int,
    batch_size: int,
    epochs: int,
    noise_multiplier: Exact,
    neighbours: Neighbours,
    scheme: Scheme = Scheme.POISSON,
) -> Composed:
    """The loss of DP-SGD with per-sample gradients of norm at most 1 and Gaussian noise on their sums.

    On a Poisson sample a record is there or not, which moves the sum by 1. With batches of fixed size a record is
    exchanged for another, which moves it by 2. A shuffled pass is one loss, since a record is in one of its batches.
    """
    level, rate = positive(noise_multiplier, "noise_multiplier"), Fraction(batch_size, size)
    if scheme is Scheme.POISSON:
        there = Gaussian(level, neighbours=ADD_OR_REMOVE_ONE)
        return Sampled(there, rate=rate, scheme=scheme, neighbours=neighbours) * steps_of(size, batch_size, epochs)
    exchanged = Gaussian(level / 2 if neighbours is REPLACE_ONE else level, neighbours=neighbours)
    times = epochs if scheme is Scheme.SHUFFLED else steps_of(size, batch_size, epochs)
    return Sampled(exchanged, rate=rate, scheme=scheme) * times


def check_run(size: int, batch_size: int, epochs: int, delta: Exact) -> Fraction:
    """Checks the numbers of a training run together, and returns its delta."""
    for name, value in (("size", size), ("batch_size", batch_size), ("epochs", epochs)):
        whole(value, name)
    if batch_size > size:
        raise InvalidArgument(
            f"batch_size={batch_size} is larger than the data set of size={size}: give at most {size} records a batch"
        )
    chance = probability(delta, "delta")
    if chance * size >= 1:
        raise InvalidArgument(
            f"delta={float(chance):.3g} is at least 1/size = {1 / size:.3g}, so that publishing one record would pass: "
            f"give a delta well below it, such as {sound_delta(size)}"
        )
    if chance == 0:
        raise InvalidArgument(f"delta=0: Gaussian noise needs a delta above zero, such as {sound_delta(size)}")
    return chance


def sound_delta(size: int) -> str:
    """A recommended delta as text: the largest power of ten that is at most 1 / (10 size)."""
    return f"1e{math.floor(-math.log10(10 * size) + 1e-9)}"
