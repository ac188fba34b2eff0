"""People invented by a stated program: what they watched, and where they were. Nobody's data is in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DAYS, WATCHED, STARS = 730, 20, 5
"""Two years of ratings, about twenty for each person, of one to five stars."""

SIDE, HOURS = 24, 7 * 24
"""A town of SIDE by SIDE squares of a kilometre, seen every hour of one week."""

NIGHT, WORK = (22, 7), (9, 17)
OUT = 3.0
"""How far, in kilometres, people stray from home when neither at home nor at work."""


@dataclass(frozen=True, eq=False)
class Ratings:
    """Stars that each person gave each film, 0 where it was not watched, and the day; one row a person."""

    stars: NDArray[np.int8]
    days: NDArray[np.int16]


def ratings(people: int, films: int, rng: np.random.Generator) -> Ratings:
    """Each person watches about WATCHED films, film i with a chance in proportion to 1 / (i + 10)."""
    chances = 1 / np.arange(10, films + 10)
    watched = rng.random((people, films)) < WATCHED * chances / chances.sum()
    stars = np.where(watched, rng.integers(1, STARS + 1, watched.shape), 0).astype(np.int8)
    return Ratings(stars, rng.integers(0, DAYS, watched.shape).astype(np.int16))


def traces(people: int, rng: np.random.Generator) -> NDArray[np.int16]:
    """The square where each person is at each hour: at home by night, at work on weekdays, else near home."""
    home, work = (np.clip(rng.normal(SIDE / 2, SIDE / 6, (people, 2)), 0, SIDE - 1) for _ in range(2))
    hour, weekday = np.arange(HOURS) % 24, np.arange(HOURS) // 24 < 5
    at_night = (hour >= NIGHT[0]) | (hour < NIGHT[1])
    at_work = weekday & (hour >= WORK[0]) & (hour < WORK[1])
    near = home[:, None] + rng.normal(0, OUT, (people, HOURS, 2))
    place = np.where(at_night[:, None], home[:, None], np.where(at_work[:, None], work[:, None], near))
    squares = np.clip(place, 0, SIDE - 1).astype(np.int16)
    return np.asarray(squares[..., 0] * SIDE + squares[..., 1], np.int16)
