"""Linkage of sparse records: a few films that somebody is known to have watched point to all the others.

[Narayanan & Shmatikov 2008]
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bruit.apps.studies.attacks.invented import Ratings, ratings

FILMS, SEED = 1000, 2006
NEAR_DAYS, NEAR_STARS = 14, 1
"""What the attacker knows is right within a fortnight and a star."""

ECCENTRICITY = 1.5
"""The best candidate is named where it stands out by so many deviations of all the scores."""


@cache
def published(people: int) -> Ratings:
    """The table that a publisher put out with the names taken off; always the same."""
    return ratings(people, FILMS, np.random.default_rng(SEED))


def link_once(*, rng: np.random.Generator, people: int, known: int, coarse: bool) -> Mapping[str, float]:
    """Attacks one random person, some of whose ratings are known: whether somebody is named, and rightly.

    `coarse` is the defence of a publisher who drops the days and keeps whether a film was liked.
    """
    table = published(people)
    target = int(rng.choice(np.flatnonzero((table.stars > 0).sum(axis=1) >= known)))
    films = rng.choice(np.flatnonzero(table.stars[target]), known, replace=False)
    score = scores(table, films, told_days(table, target, films, rng), table.stars[target, films], coarse=coarse)
    best, second = np.partition(score, -2)[-2:][::-1]
    named = best - second > ECCENTRICITY * score.std()
    return {"named": float(named), "right": float(named and score.argmax() == target)}


def told_days(table: Ratings, target: int, films: NDArray[np.int64], rng: np.random.Generator) -> NDArray[np.int64]:
    """When the target watched the films, as far as the attacker remembers."""
    return np.asarray(table.days[target, films] + rng.integers(-NEAR_DAYS, NEAR_DAYS + 1, len(films)))


def scores(
    table: Ratings, films: NDArray[np.int64], days: NDArray[np.int64], stars: NDArray[np.int8], *, coarse: bool
) -> NDArray[np.float64]:
    """How well each record fits: matches, each worth one over the logarithm of how many watched the film."""
    seen = table.stars[:, films] > 0
    if coarse:
        fits = seen & ((table.stars[:, films] > 3) == (stars > 3))
    else:
        fits = seen & (np.abs(table.stars[:, films] - stars) <= NEAR_STARS)
        fits &= np.abs(table.days[:, films] - days) <= NEAR_DAYS
    watched = (table.stars[:, films] > 0).sum(axis=0)
    return np.asarray(fits @ (1 / np.log(watched + 1.5)))
