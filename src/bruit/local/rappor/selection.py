"""Which of many p-values to believe."""

from __future__ import annotations

from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from bruit.errors import InvalidArgument

Selection = Literal["adaptive", "benjamini-hochberg", "bonferroni", "none"]
SELECTIONS: Final[tuple[str, ...]] = get_args(Selection)
_LIKELY_NULL: Final = 0.5


def cut(p_values: NDArray[np.float64], level: float, select: Selection) -> float:
    """The largest p-value that is believed, or the one that the first discovery would have to reach.

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
    """Refuses a rule that is not known and a level that is none."""
    if select not in SELECTIONS:
        raise InvalidArgument(f"select={select!r}: give one of {', '.join(SELECTIONS)}")
    if not 0 < level < 0.5:
        raise InvalidArgument(f"level={level} must lie above 0 and below 0.5; 0.05 is usual")
