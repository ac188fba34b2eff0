"""The result of a study, and the two sizes that a study runs at."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Size = Literal["small", "full"]
"""Seconds, for the gate; or the size that is reported."""


@dataclass(frozen=True)
class Findings:
    """The result of a study: one paragraph, the files it wrote, and its headline numbers."""

    summary: str
    files: tuple[Path, ...]
    figures: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The findings in JSON types."""
        return {"summary": self.summary, "files": [str(path) for path in self.files], "figures": self.figures}
