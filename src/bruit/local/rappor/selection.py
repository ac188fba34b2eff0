"""Multiple testing in RAPPOR decoding: which p-values count as discoveries."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bruit.core.arguments import whole
from bruit.errors import InvalidArgument

if TYPE_CHECKING:
    from bruit.local.rappor.protocol import Rappor

Selection = Literal["adaptive", "benjamini-hochberg", "bonferroni", "none"]
SELECTIONS: Final[tuple[str, ...]] = get_args(Selection)
_LIKELY_NULL: Final = 0.5


ROOMY_ROWS: Final = 256
ROOMY_ONES: Final = 16
"""From so many bits over all cohorts, and so many of them set by one text, p-values were found true enough for rules
that bound a share of false ones: in tables of 1e6 reports at most 5 % at level 0.05; below, up to 17 %."""

Room = Literal["held", "by bonferroni", "not held"]


def level_held(protocol: Rappor, candidates: int) -> Room:
    """Whether a design can hold the error level of a decoding: by any selection, by Bonferroni only, or not at all.

    held            by any selection
    by bonferroni   texts meet in few bits: only Bonferroni's rule holds the level, and is taken for the others
    not held        more candidates than bits: two texts that nobody can tell apart would be found for one
    """
    rows, ones = protocol.bits * protocol.cohorts, protocol.hashes * protocol.cohorts
    if rows >= ROOMY_ROWS and ones >= ROOMY_ONES:
        return "held"
    return "by bonferroni" if whole(candidates, "candidates") <= rows else "not held"


def widened(protocol: Rappor, candidates: int, select: Selection) -> Selection:
    """The rule asked for, or Bonferroni's where the design supports only that; refuses a design that supports none."""
    room = level_held(protocol, candidates)
    if room == "held" or select in ("none", "bonferroni"):
        return select
    if room == "not held":
        raise InvalidArgument(
            f"{protocol.bits} bits in {protocol.cohorts} cohorts cannot tell {candidates} candidates apart at any "
            "level: ask about fewer, take more cohorts, or select='none' for shares of all without a test"
        )
    return "bonferroni"


def cut(p_values: NDArray[np.float64], level: float, select: Selection) -> float:
    """The largest p-value accepted as a discovery; without any discovery, the threshold of the first.

    bonferroni           level / M: no false one at all, with chance 1 - level
    benjamini-hochberg   the largest level i / M that the i-th p-value reaches: at most a share `level` of those found
                         is false, on average                                        [Benjamini & Hochberg 1995]
    adaptive             the same with M0, an estimate of how many are null, for M: (1 + #{p > 1/2}) / (1 - 1/2)
                                                                               [Storey, Taylor & Siegmund 2004]
    none                 1: everything is kept
    """
    size = len(p_values)
    if select == "none":
        return 1.0
    if select == "bonferroni":
        return level / size
    null = min(size, (1 + int((p_values > _LIKELY_NULL).sum())) / (1 - _LIKELY_NULL)) if select == "adaptive" else size
    steps = np.minimum(level * np.arange(1, size + 1) / null, _LIKELY_NULL if select == "adaptive" else 1.0)
    reached = np.flatnonzero(np.sort(p_values) <= steps)
    return float(steps[reached[-1] if reached.size else 0])


def checked_selection(select: str, level: float) -> None:
    """Refuses an unknown selection rule, and a level outside (0, 0.5)."""
    if select not in SELECTIONS:
        raise InvalidArgument(f"select={select!r}: give one of {', '.join(SELECTIONS)}")
    if not 0 < level < 0.5:
        raise InvalidArgument(f"level={level} must lie above 0 and below 0.5; 0.05 is usual")
