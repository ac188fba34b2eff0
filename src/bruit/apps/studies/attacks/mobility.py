"""Mobility traces: how many people are alone with a few places and hours.            [de Montjoye et al. 2013]"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache

import numpy as np
from numpy.typing import NDArray

from bruit.apps.studies.attacks.invented import HOURS, SIDE, traces

SEED = 2013


@cache
def published(people: int, kilometres: int, hours: int) -> NDArray[np.int16]:
    """People's traces made coarser for publication: one grid square, of so many kilometres, every so many hours."""
    fine = traces(people, np.random.default_rng(SEED))
    row, column = fine // SIDE // kilometres, fine % SIDE // kilometres
    return np.asarray((row * SIDE + column)[:, ::hours], np.int16)


def match_once(
    *, rng: np.random.Generator, people: int, known: int, kilometres: int, hours: int
) -> Mapping[str, float]:
    """Whether one random person is the only one who was at each of the known places and hours."""
    table = published(people, kilometres, hours)
    target = int(rng.integers(people))
    when = rng.choice(HOURS // hours, known, replace=False)
    return {"alone": float((table[:, when] == table[target, when]).all(axis=1).sum() == 1)}
