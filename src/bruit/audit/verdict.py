"""The result of an audit: a lower bound beside the claim."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Verdict:
    """A lower bound on epsilon (at `delta`) that is too high with chance at most `alarm`, beside what was claimed.

    `measure` is "epsilon", "mu" for the shift of a Gaussian trade-off, or the strength of another family of curves.
    """

    lower_bound: float
    claimed: float
    delta: float
    alarm: float
    samples: int
    event: str
    measure: str = "epsilon"

    @property
    def passes(self) -> bool:
        """Whether the claim is consistent with the lower bound; a true claim fails with chance at most `alarm`."""
        return self.lower_bound <= self.claimed

    def to_json(self) -> dict[str, Any]:
        """The verdict in JSON types."""
        return {
            "lower_bound": self.lower_bound,
            "claimed": self.claimed,
            "delta": self.delta,
            "alarm": self.alarm,
            "samples": self.samples,
            "event": self.event,
            "measure": self.measure,
            "passes": self.passes,
        }
