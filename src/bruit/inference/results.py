"""What inference says: an estimate with an interval for the population, or the evidence of a test."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from bruit.core.guarantee import Guarantee
from bruit.core.interval_figure import IntervalFigure, interval_figure
from bruit.core.intervals import Interval

if TYPE_CHECKING:
    import pandas
    import polars


class InferenceResult(ABC):
    """A result that is a table of one row: for polars, for pandas and for a notebook."""

    guarantees: tuple[Guarantee, ...]

    @abstractmethod
    def _row(self) -> dict[str, Any]:
        """The columns of the table."""

    def frame(self) -> polars.DataFrame:
        """The result as a polars table of one row."""
        import polars

        return polars.DataFrame([self._row()])

    def to_pandas(self) -> pandas.DataFrame:
        """The result as a pandas table of one row."""
        import pandas

        return pandas.DataFrame([self._row()])

    def _repr_html_(self) -> str:
        """What a notebook shows: the table, what was said of it, and what its sources cost."""
        said = [str(self), *map(str, self.guarantees)]
        return str(self.frame()._repr_html_()) + "".join(f"<p>{escape(each)}</p>" for each in said)


@dataclass(frozen=True)
class Estimate(InferenceResult):
    """An estimate of something about the population; sampling and noise are both in its interval.

    `guarantees` are those of the sources: what was made of them costs nothing more. `caution` says why the interval may
    hold less often than it states; it is empty where nothing is known against it.
    """

    what: str
    value: float
    interval: Interval
    guarantees: tuple[Guarantee, ...] = ()
    caution: str = ""

    @property
    def low(self) -> float:
        """The low end of the interval."""
        return float(self.interval.low)

    @property
    def high(self) -> float:
        """The high end of the interval."""
        return float(self.interval.high)

    def plot(self) -> IntervalFigure:
        """The estimate as a dot with its interval, a figure that notebooks show and `save` writes as SVG."""
        return interval_figure([self.what], [self.value], [self.low], [self.high], caption=str(self))

    def _row(self) -> dict[str, Any]:
        return {"label": self.what, "value": self.value, "low": self.low, "high": self.high}

    def __str__(self) -> str:
        level = f"{100 * self.interval.confidence:g} %"
        caution = f"; {self.caution}" if self.caution else ""
        return f"{self.what}: {self.value:.4g}, from {self.low:.4g} to {self.high:.4g} ({level}, population){caution}"


@dataclass(frozen=True)
class Evidence(InferenceResult):
    """The result of a test: a p-value, which is at most x with chance at most x if the null hypothesis holds."""

    what: str
    statistic: float
    p_value: float
    guarantees: tuple[Guarantee, ...] = ()

    def _row(self) -> dict[str, Any]:
        return {"label": self.what, "statistic": self.statistic, "p value": self.p_value}

    def __str__(self) -> str:
        return f"{self.what}: p = {self.p_value:.3g}"
