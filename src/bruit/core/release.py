"""Released values, each with its labels, interval, guarantee and the ledger entry that paid for it."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from bruit.core.guarantee import Guarantee
from bruit.core.interval_figure import IntervalFigure, interval_figure
from bruit.core.intervals import Interval
from bruit.errors import InvalidArgument

if TYPE_CHECKING:
    import pandas
    import polars

T = TypeVar("T")


@dataclass(frozen=True)
class Receipt:
    """Which ledger entry paid: the ledger's name, its unique identity, and the number of the entry."""

    book: str
    identity: str
    number: int


@dataclass(frozen=True)
class Release(Generic[T]):
    """What a mechanism releases (value, labels, interval, guarantee, receipt); all of it may be published.

    `noise` is the half-width that the added noise alone accounts for, at the interval's confidence. A model has no
    interval. `details` holds what a method has to say beside its value. `receipt` names the entry that paid; None where
    no book did, as for the answers of a local survey.
    """

    value: T
    guarantee: Guarantee
    method: str
    labels: tuple[str, ...] = ()
    interval: Interval | None = None
    noise: NDArray[np.float64] | float | None = None
    details: dict[str, Any] = field(default_factory=dict)
    receipt: Receipt | None = None

    def frame(self) -> polars.DataFrame:
        """The release as a table with one row per label: value, low, high, noise."""
        import polars

        values = np.atleast_1d(np.asarray(self.value)).reshape(-1)
        columns: dict[str, Any] = {"label": list(self.labels or map(str, range(len(values)))), "value": values}
        if self.interval is not None:
            columns |= {"low": np.atleast_1d(self.interval.low), "high": np.atleast_1d(self.interval.high)}
        if self.noise is not None:
            columns["noise"] = np.broadcast_to(np.asarray(self.noise, float), values.shape)
        return polars.DataFrame(columns)

    def to_pandas(self) -> pandas.DataFrame:
        """The table of `frame` as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.frame().to_dict(as_series=False))

    def plot(self) -> IntervalFigure:
        """A dot and an interval for each label, as a figure that notebooks show and `save` writes as SVG."""
        if not self._is_numbers:
            raise InvalidArgument(f"a release of a {type(self.value).__name__} has no numbers to draw: show its value")
        columns = self.frame().to_dict(as_series=False)
        value = columns["value"]
        ends = columns.get("low", value), columns.get("high", value)
        return interval_figure(columns["label"], value, *ends, caption=str(self.guarantee))

    def _repr_html_(self) -> str:
        """What a notebook shows: the table of numbers, a text, or the type of what is neither; and the guarantee."""
        told = self.value if isinstance(self.value, str) else type(self.value).__name__
        shown = str(self.frame()._repr_html_()) if self._is_numbers else f"<p>{escape(told)}</p>"
        return f"{shown}<p>{escape(str(self.guarantee))}</p>"

    @property
    def _is_numbers(self) -> bool:
        return np.asarray(self.value).dtype.kind in "biuf"

    def to_json(self) -> str:
        """Everything but the receipt as JSON text; the same seed gives the same text whichever ledger paid."""
        return json.dumps(
            {
                "value": _plain(self.value),
                "labels": list(self.labels),
                "interval": None if self.interval is None else self.interval.to_json(),
                "noise": _plain(self.noise),
                "guarantee": self.guarantee.to_json(),
                "method": self.method,
                "details": _plain(self.details),
            },
            ensure_ascii=False,
        )


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """The result of a mechanism before its guarantee and its receipt are added."""

    value: T
    method: str
    labels: tuple[str, ...] = ()
    interval: Interval | None = None
    noise: NDArray[np.float64] | float | None = None
    details: dict[str, Any] = field(default_factory=dict)

    def release(self, guarantee: Guarantee, receipt: Receipt | None = None) -> Release[T]:
        """Makes a release of the outcome by adding its guarantee and its receipt."""
        return Release(
            value=self.value,
            guarantee=guarantee,
            method=self.method,
            labels=self.labels,
            interval=self.interval,
            noise=self.noise,
            details=self.details,
            receipt=receipt,
        )


def _plain(value: Any) -> Any:
    """The JSON types of a value; what has none (a model) is named by its class."""
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return value if isinstance(value, str | int | float | bool | None) else type(value).__qualname__
