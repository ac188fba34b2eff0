"""Turns losses into dominating pairs, one list of pairs for each way in which one person's data may matter."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from bruit.core.losses import (
    Approximate,
    BoundedRange,
    Composed,
    DiscreteGaussian,
    DiscreteLaplace,
    Gaussian,
    Laplace,
    Loss,
    Parallel,
    Pure,
    Sampled,
    Scheme,
)
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, REPLACE_ONE
from bruit.core.numbers import SMALLEST
from bruit.errors import NotPrivate
from bruit.privacy.accounting.composition import parts_touched, require_amplification
from bruit.privacy.accounting.gaussian import UNIT_ROUNDOFF, bounded_range_shift
from bruit.privacy.accounting.renyi import LEAST_RATE, discrete_laplace_atoms, gaussian_noise
from bruit.privacy.pld.pairs import AtomPair, Direction, GaussianPair, LaplacePair, Pair, SampledPair

MOST_CASES = 512
MOST_ATOMS = 4_000_000
Counted = list[tuple[Pair, int]]


def cases(loss: Loss) -> list[Counted]:
    """One list of counted pairs per worst case: the parts a person is in, the entries moved, added or removed.

    The true trade-off of two neighbours is that of one case, so the worst case bounds them all. That holds for one
    release: in the next one a person may be in another part, or change other entries, as the answers before it decide.
    """
    _require_same_way(loss)
    found: list[Counted] = []
    for parts in _lists_of_losses(loss):
        for direction in (Direction.REMOVE, Direction.ADD) if any(map(_is_lopsided, parts)) else (Direction.REMOVE,):
            found.append([(pair_of(part, direction), times) for part, times in _gather(parts).items()])
            _require_few(len(found))
    return found


def _require_same_way(loss: Loss) -> None:
    """Refuses a composition of which one release can tell of a person in several ways: no pair dominates them all."""
    for part, times in loss.parts():
        inner = part.losses if isinstance(part, Parallel) else (part.loss,) if isinstance(part, Sampled) else ()
        for each in inner:
            _require_same_way(each)
        several = times > 1 or len(list(itertools.islice(loss.parts(), 2))) > 1
        if several and not _have_worst(list(itertools.islice(_lists_of_losses(part), MOST_CASES))):
            raise NotPrivate(
                f"{type(part).__name__} beside other releases has different ways in which one person may matter, which "
                "may change from one to the next: pld has no proved bound for that; ask by='rdp' or by='zcdp'"
            )


def _have_worst(ways: list[list[tuple[Loss, int]]]) -> bool:
    """Whether one of several ways to pay dominates all others: a single one, or single losses of one number."""
    kinds = {type(part) for parts in ways for part, _ in parts}
    alone = all(sum(times for _, times in parts) == 1 for parts in ways)
    return len(ways) < 2 or (alone and len(kinds) == 1 and kinds <= {Pure, BoundedRange, Gaussian, Laplace})


def _require_few(count: int) -> None:
    if count > MOST_CASES:
        raise NotPrivate(
            f"more than {MOST_CASES} different ways in which one person may matter: "
            "give the parallel parts equal losses, or ask by='rdp' or by='zcdp'"
        )


def pair_of(loss: Loss, direction: Direction) -> Pair:
    """The dominating pair of one loss in one direction (added or removed)."""
    if isinstance(loss, Pure):
        return _two_point(loss.epsilon, 0.0)
    if isinstance(loss, BoundedRange):
        return GaussianPair(1 / float(bounded_range_shift(loss.epsilon)) * (1 - UNIT_ROUNDOFF), 1.0, 0.0)
    if isinstance(loss, Approximate):
        return _two_point(loss.epsilon, float(loss.delta))
    if isinstance(loss, Laplace):
        return LaplacePair(float(loss.sensitivity / loss.scale))
    if isinstance(loss, DiscreteLaplace):
        return AtomPair(*discrete_laplace_atoms(float(loss.scale), loss.sensitivity), lattice=1 / loss.scale)
    if isinstance(loss, Gaussian):
        return GaussianPair(float(loss.noise), 1.0, 0.0)
    if isinstance(loss, DiscreteGaussian):
        return _discrete_gaussian(loss)
    if isinstance(loss, Sampled):
        return _sampled_pair(loss, direction)
    raise NotPrivate(f"{type(loss).__name__} has no dominating pair that is proved; ask by='zcdp' or by='rdp'")


def _lists_of_losses(loss: Loss) -> Iterator[list[tuple[Loss, int]]]:
    """Every list of single losses that one person may have to pay together."""
    if isinstance(loss, Composed):
        for choice in itertools.product(*(_lists_of_losses(part) for part, _ in loss.counted)):
            counts = (times for _, times in loss.counted)
            yield [(part, inner * n) for parts, n in zip(choice, counts, strict=True) for part, inner in parts]
    elif isinstance(loss, Parallel):
        for chosen in _choices(loss):
            for choice in itertools.product(*map(_lists_of_losses, chosen)):
                yield list(itertools.chain.from_iterable(choice))
    elif isinstance(loss, DiscreteGaussian) and loss.entries > 1 and loss.squared_sensitivity > 1:
        for shifts in _shifts(loss.squared_sensitivity, loss.entries):
            yield [
                (DiscreteGaussian(loss.variance, squared_sensitivity=s * s, neighbours=loss.neighbours), 1)
                for s in shifts
            ]
    elif isinstance(loss, Sampled) and loss.scheme is Scheme.SHUFFLED:
        require_amplification(loss)
        yield from _lists_of_losses(loss.loss)
    elif (smooth := _whole_sample(loss)) is not None:
        yield [(smooth, 1)]
    else:
        yield [(loss, 1)]


def _whole_sample(loss: Loss) -> Gaussian | None:
    """The Gaussian release that a Poisson sample of every record is, where it is one: an exchange moves it by two."""
    if not isinstance(loss, Sampled) or loss.scheme is not Scheme.POISSON or loss.rate != 1:
        return None
    noise = gaussian_noise(loss.loss)
    if noise is None or loss.loss.neighbours is not ADD_OR_REMOVE_ONE:
        return None
    shift = 2 if loss.neighbours is REPLACE_ONE else 1
    return Gaussian(Fraction(noise) / shift, neighbours=loss.neighbours)


def _choices(loss: Parallel) -> Iterator[tuple[Loss, ...]]:
    """Every different choice of the parts one person is in; of equal parts only as many as can be chosen matter."""
    touched, seen = parts_touched(loss), set()
    parts = [part for part, times in Counter(loss.losses).items() for _ in range(min(times, touched))]
    for chosen in itertools.combinations(parts, touched):
        if chosen not in seen:
            seen.add(chosen)
            _require_few(len(seen))
            yield chosen


def _shifts(squared: int, entries: int) -> list[tuple[int, ...]]:
    """The ways to spread a change over entries that cannot be enlarged: squares sum to at most `squared`."""

    def grow(left: int, most: int, room: int) -> Iterator[tuple[int, ...]]:
        if room == 0 or left == 0:
            yield ()
            return
        for first in range(min(most, math.isqrt(left)), 0, -1):
            for rest in grow(left - first * first, first, room - 1):
                yield first, *rest

    found = list(itertools.islice(grow(squared, squared, entries), MOST_CASES + 1))
    if len(found) > MOST_CASES:
        raise NotPrivate(f"squared sensitivity {squared} over {entries} entries has too many spreads; ask by='zcdp'")
    return found


def _gather(parts: list[tuple[Loss, int]]) -> dict[Loss, int]:
    """Counts equal losses together, with all Gaussian noise as one release of the same precision."""
    counts: dict[Loss, int] = {}
    for part, times in parts:
        counts[part] = counts.get(part, 0) + times
    smooth = {part: times for part, times in counts.items() if isinstance(part, Gaussian)}
    if sum(smooth.values()) > 1:
        counts = {part: times for part, times in counts.items() if part not in smooth}
        precision = sum(times / part.noise**2 for part, times in smooth.items() if isinstance(part, Gaussian))
        noise = Fraction(math.sqrt(1 / precision) * (1 - 2.0**-50))
        counts[Gaussian(noise, neighbours=next(iter(smooth)).neighbours)] = 1
    return counts


def _is_lopsided(counted: tuple[Loss, int]) -> bool:
    part, _ = counted
    return isinstance(part, Sampled) and part.neighbours is ADD_OR_REMOVE_ONE


def _two_point(epsilon: Fraction, infinite: float) -> AtomPair:
    """Losses +-epsilon, and failure.                                     [Kairouz, Oh & Viswanath 2015, Theorem 3.2]"""
    size = float(epsilon)
    if size == 0:
        return AtomPair(np.zeros(1), np.array([1 - infinite]), infinite)
    down = math.exp(-size) / (1 + math.exp(-size))
    masses = (1 - infinite) * np.array([down, 1 / (1 + math.exp(-size))])
    return AtomPair(np.array([-size, size]), masses, infinite, epsilon)


def _discrete_gaussian(loss: DiscreteGaussian) -> AtomPair:
    """Losses shift (shift - 2k) / (2 variance) with the exact masses; beyond 40 deviations the mass is below 1e-340."""
    shift, variance = math.isqrt(loss.squared_sensitivity), float(loss.variance)
    reach = math.ceil(40 * math.sqrt(variance)) + shift
    if reach > MOST_ATOMS:
        raise NotPrivate(f"discrete Gaussian noise of variance {variance:.3g} is too wide for pld; ask by='zcdp'")
    k = np.arange(reach, -reach - 1, -1)
    weights = np.exp(-(k.astype(float) ** 2) / (2 * variance))
    losses = np.asarray(shift * (shift - 2.0 * k) / (2 * variance), np.float64)
    # What lies beyond counts as infinite: there is no largest loss.
    return AtomPair(losses, weights / weights.sum(), SMALLEST, Fraction(shift) / (2 * loss.variance))


def _sampled_pair(loss: Sampled, direction: Direction) -> Pair:
    rate, noise = max(float(loss.rate), LEAST_RATE), gaussian_noise(loss.loss)
    inside, outside = loss.loss.neighbours, loss.neighbours
    if loss.scheme is Scheme.POISSON and noise is not None and inside is ADD_OR_REMOVE_ONE:
        if outside is REPLACE_ONE:
            return GaussianPair(noise, rate, rate)
        return GaussianPair(noise, rate, 0.0) if direction is Direction.REMOVE else GaussianPair(noise, 0.0, rate)
    require_amplification(loss)
    counted = _gather(next(_lists_of_losses(loss.loss)))
    if len(counted) > 1 or sum(counted.values()) > 1 or len(list(itertools.islice(_lists_of_losses(loss.loss), 2))) > 1:
        raise NotPrivate(f"{loss.scheme} sampling of several different releases at once has no pair that is proved")
    single = next(iter(counted))
    if isinstance(single, Sampled):
        raise NotPrivate(f"{loss.scheme} sampling of what is itself a sample: state one rate, the product of the two")
    base = pair_of(single, direction)
    if rate == 1.0:
        return base
    return SampledPair(base, rate, direction if outside is ADD_OR_REMOVE_ONE else Direction.EXCHANGE)
