"""What a budget pays for: integer noise, noise on vectors, a private choice, or an equal part of the epsilon."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, TypeVar

from bruit.channels import Choice, CubeNoise, GaussianVector, IntegerNoise, VectorNoise
from bruit.core.losses import Approximate, DiscreteGaussian, DiscreteLaplace, Loss, Pure, composed
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.errors import InvalidArgument, NotPrivate
from bruit.ledger import Budget
from bruit.privacy import calibrate, zcdp

LARGEST_RADIUS: Final = 2**50
"""A cube of noise of a larger radius leaves the range of 64-bit integers."""

C = TypeVar("C", bound=Choice)


def buy_integers(budget: Budget, *, l1: int, l2_squared: int, entries: int) -> IntegerNoise:
    """The integer noise that a budget pays for, given the l1 and squared l2 sensitivity and the entries moved.

    An epsilon buys discrete Laplace noise of scale l1 / epsilon; a single loss must be wide enough. [docs/rules.md, 6]
    """
    loss = budget.loss
    if isinstance(loss, Pure | Approximate):
        return IntegerNoise.laplace(budget.epsilon, sensitivity=l1, neighbours=budget.neighbours)
    if isinstance(loss, DiscreteLaplace) and loss.sensitivity >= l1:
        return IntegerNoise(loss)
    wide_enough = isinstance(loss, DiscreteGaussian) and loss.squared_sensitivity >= l2_squared
    if isinstance(loss, DiscreteGaussian) and wide_enough and loss.entries >= entries:
        return IntegerNoise(loss)
    raise NotPrivate(
        f"a budget of {type(loss).__name__} cannot pay for {entries} integers of l1 sensitivity {l1} and squared l2 "
        f"sensitivity {l2_squared}; give DiscreteLaplace or DiscreteGaussian of at least that sensitivity, or epsilon"
    )


def buy_vectors(
    budget: Budget,
    *,
    entries: int,
    each: int,
    rows_changed: int,
    share: Fraction = Fraction(1),
    times: int = 1,
    like: VectorNoise | None = None,
) -> VectorNoise:
    """The noise of least deviation that a share of a budget pays for, for `times` batches of integer vectors.

    One row moves one block, every entry by at most `each`; `rows_changed` is how many such rows a neighbour differs in
    (rows of one person, twice that where a person is exchanged for another). The largest entries of the moved blocks
    add up to at most rows_changed * each; the squares of all moves to at most entries * (rows_changed * each)^2. Parts
    of one fit must be of one kind, that of the noise `like`: shares of an epsilon and of a rho do not add up to either.
    """
    bought: list[VectorNoise] = []
    if _has_epsilon(budget) and not isinstance(like, GaussianVector):
        bought.append(_cube(budget, entries, rows_changed * each, share, times))
    if (budget.delta and not isinstance(like, CubeNoise)) or not bought:
        bought.append(_gaussian(budget, entries, each, rows_changed, share, times))
    return min(bought, key=lambda noise: noise.deviation)


def buy_choice(budget: Budget, kind: type[C], *, sensitivity: int, monotone: bool, what: str) -> C:
    """The private choice (such as the exponential mechanism) that a whole budget pays for at a score sensitivity.

    Where one person is exchanged for another no scores are monotone: the one who leaves lowers some, the one who comes
    raises others.
    """
    if monotone and budget.neighbours is not ADD_OR_REMOVE_ONE:
        raise NotPrivate(
            f"{what}: monotone=True holds only where people are added or removed; the book {budget.ledger.name!r} is "
            f"for {budget.neighbours!s}, where one person lowers some scores and raises others: leave monotone out"
        )
    epsilon = part_of(budget, 1, what)
    return kind(epsilon / (sensitivity * (1 if monotone else 2)), sensitivity, monotone)


def part_of(budget: Budget, parts: int, what: str) -> Fraction:
    """The budget's epsilon divided by the number of noisy numbers that a statistic is made of."""
    if not _has_epsilon(budget):
        raise NotPrivate(
            f"{what} is made of {parts} noisy numbers: give its budget as an epsilon, not as a single loss"
        )
    return budget.epsilon / parts


def all_of(*noises: tuple[VectorNoise, int]) -> Loss:
    """The composed loss of several noises, each drawn a number of times."""
    return composed((noise.loss, times) for noise, times in noises)


def _has_epsilon(budget: Budget) -> bool:
    return isinstance(budget.loss, Pure | Approximate)


def _cube(budget: Budget, entries: int, moved: int, share: Fraction, times: int) -> CubeNoise:
    scale = moved * times / (budget.epsilon * share)
    if scale * entries >= LARGEST_RADIUS:
        raise InvalidArgument(
            f"epsilon={float(budget.epsilon):.3g} over {entries} numbers asks for noise beyond 64 bits; "
            "give a larger epsilon"
        )
    return CubeNoise(scale, entries, Pure(moved / scale, neighbours=budget.neighbours))


def _gaussian(
    budget: Budget, entries: int, each: int, rows_changed: int, share: Fraction, times: int
) -> GaussianVector:
    squares = entries * (rows_changed * each) ** 2
    variance = squares * times / (2 * _rho(budget) * share)
    touched = entries * rows_changed
    loss = DiscreteGaussian(variance, squared_sensitivity=squares, entries=touched, neighbours=budget.neighbours)
    return GaussianVector(entries, loss)


def _rho(budget: Budget) -> Fraction:
    """What a budget is worth in concentrated privacy, by the accountant that will price the charge."""
    terms = budget.ledger.terms
    if not _has_epsilon(budget):
        if terms.by == "basic":
            raise NotPrivate("a model in a book by 'basic' is paid with budget(epsilon=..., delta=...)")
        return zcdp(budget.loss)
    by = budget.by or {"basic": "zcdp"}.get(terms.by, terms.by)

    def loss(noise: Fraction) -> DiscreteGaussian:
        return DiscreteGaussian(noise**2, squared_sensitivity=1, neighbours=budget.neighbours)

    return 1 / (2 * calibrate(loss, epsilon=budget.epsilon, delta=budget.delta, by=by) ** 2)
