"""The result of a study, and the two sizes that a study runs at."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

Size = Literal["small", "full"]
"""The size of a study: `small` takes seconds and runs in the tests; `full` is the one that is reported."""


@dataclass(frozen=True)
class Findings:
    """What a study found: one paragraph, the files it wrote, and its headline numbers.

    `data` names what was used where it was not the whole set of the study's title: a stand-in, or a part.
    """

    summary: str
    files: tuple[Path, ...]
    figures: dict[str, float] = field(default_factory=dict)
    data: str = ""

    def to_json(self) -> dict[str, Any]:
        """The findings in JSON types."""
        told = {"summary": self.summary, "files": [str(path) for path in self.files], "figures": self.figures}
        return told | ({"data": self.data} if self.data else {})
