"""Simulated tallies drawn from their distribution, so that a study of millions of reports takes milliseconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from bruit.errors import InvalidArgument
from bruit.local.rappor import bloom
from bruit.local.rappor.tally import RapporTally
from bruit.randomness import generator, is_strong

if TYPE_CHECKING:
    from bruit.local.rappor.protocol import Rappor


def drawn_tally(
    protocol: Rappor, texts: Sequence[str], shares: ArrayLike, people: int, *, rng: np.random.Generator | None = None
) -> RapporTally:
    """A simulated tally of `people` new respondents with texts drawn by the given shares; no real answer is involved.

    Cohorts and texts are multinomial; given how many respondents of a cohort set a bit, the ones of its reports are
    two binomial draws. The bits of a cohort are drawn together with the texts, so their joint law is that of reports.
    """
    chances = np.asarray(shares, np.float64)
    if chances.shape != (len(texts),) or (chances < 0).any() or abs(chances.sum() - 1) > 1e-9:
        raise InvalidArgument("give a share for each text: none below 0, and 1 together")
    source = generator(rng)
    sizes = source.multinomial(people, np.full(protocol.cohorts, 1 / protocol.cohorts))
    holders = source.multinomial(sizes, chances / chances.sum())
    setting = np.zeros((protocol.cohorts, protocol.bits), np.int64)
    places = np.sort(
        bloom.candidate_places(texts, cohorts=protocol.cohorts, hashes=protocol.hashes, bits=protocol.bits), axis=2
    )
    for number in range(protocol.hashes):
        new = places[:, :, number] != places[:, :, number - 1] if number else np.ones(places.shape[:2], np.bool_)
        text, cohort = np.nonzero(new)
        np.add.at(setting, (cohort, places[text, cohort, number]), holders[cohort, text])
    if_zero, if_one = protocol.law.report.probabilities()[:, 1]
    counts = source.binomial(setting, if_one) + source.binomial(sizes[:, None] - setting, if_zero)
    return RapporTally(protocol, sizes.astype(np.int64), counts.astype(np.int64), seeded=not is_strong(rng))
