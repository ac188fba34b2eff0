"""Mean, deviation and interval of the repeats of each point."""

from collections.abc import Sequence

import numpy as np
import polars
from scipy import special

from bruit.core.arguments import confidence as checked_confidence
from bruit.errors import InvalidArgument


def summary(
    frame: polars.DataFrame,
    by: Sequence[str],
    *,
    confidence: float = 0.95,
    within: tuple[float, float] | None = None,
) -> polars.DataFrame:
    """One row for each point and quantity: how many repeats, their mean and deviation, and an interval for the mean.

    mean ± t(confidence, n - 1) · deviation / √n, with Student's quantile t; exact for normal repeats. What cannot leave
    a range, as a share cannot leave (0, 1), is stated as `within`: the interval is cut there.
    """
    _check(frame, by, confidence)
    quantities = [
        name for name in frame.columns if name not in by and name != "repeat" and frame[name].dtype.is_numeric()
    ]
    long = frame.unpivot(quantities, index=list(by), variable_name="quantity", value_name="value")
    value = polars.col("value")
    grouped = long.group_by([*by, "quantity"], maintain_order=True).agg(
        value.count().alias("repeats"), value.mean().alias("mean"), value.std().alias("deviation")
    )
    number = grouped["repeats"].to_numpy()
    reach = special.stdtrit(np.maximum(number - 1, 1), (1 + confidence) / 2) / np.sqrt(np.maximum(number, 1))
    half = polars.col("deviation") * polars.Series(reach)
    low, high = polars.col("mean") - half, polars.col("mean") + half
    return grouped.with_columns(
        low=low if within is None else low.clip(*within), high=high if within is None else high.clip(*within)
    )


def _check(frame: polars.DataFrame, by: Sequence[str], confidence: float) -> None:
    missing = [name for name in by if name not in frame.columns]
    if isinstance(by, str) or missing:
        raise InvalidArgument(f"by={by!r}: give a list of columns out of {', '.join(frame.columns)}")
    checked_confidence(confidence)
