"""Which studies there are; each is imported when it runs."""

from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Protocol

import numpy as np

from bruit.errors import InvalidArgument

Size = Literal["small", "full"]

STUDIES = {
    "budget": (
        "budget",
        "The ε of a training run against order, size, batch, noise, epochs and δ (S2.11, S2.12).",
    ),
    "cifar10": (
        "cifar10",
        "CIFAR-10 without other data: a private linear head over scattering features.",
    ),
    "flowers": (
        "flowers",
        "102 flowers: the document's table, its curves, and private heads over frozen networks (S2.16).",
    ),
    "memory": (
        "memory",
        "The memory of training steps: forecast, measured, and by the document's formulas (S2.17).",
    ),
    "mnist": (
        "mnist",
        "Digits: the document's network with and without privacy, and a modern recipe (S2.15).",
    ),
    "codes": (
        "codes",
        "Codes over noise and over randomised response: capacity, composition, media, error curves (S1.3–S1.7).",
    ),
    "deciles": (
        "deciles",
        "Nine private deciles, mechanism by mechanism, against n and epsilon, beside their bounds (S3.5).",
    ),
    "income": (
        "income",
        "Private trees and additive models on the income of UCI Adult: AUC against epsilon, beside DP-EBM.",
    ),
    "knn": (
        "knn",
        "Nearest neighbours with noise on the votes, for each question and for all, on four tables (S4.1).",
    ),
    "krr-learning": (
        "krr_learning",
        "Learning from answers that everybody randomised: a forest, and estimators that know the channel (S0.5, S0.6).",
    ),
    "krr-marital": (
        "krr_marital",
        "Randomised response on the marital status of UCI Adult, against its theory (S0.4).",
    ),
    "membership": (
        "membership",
        "Who was in the training set: two attacks on an overfit network, with and without privacy.",
    ),
    "rappor": (
        "rappor",
        "RAPPOR decoded: normal and exponential laws, Windows processes, Chrome homepages (S2.20).",
    ),
    "planted": (
        "planted",
        "Classic faults of private mechanisms, planted on purpose, and the test that catches each.",
    ),
    "reconstruction": (
        "reconstruction",
        "Secret bits from noisy counts: the threshold at the root of n, and every question asked (S2.3).",
    ),
    "trees": (
        "trees",
        "The lecture's trees: entropy, a cross-validated tree on wine, and the tree drawn (S1.1).",
    ),
}
"""The module of each study and what it shows, by name."""


@dataclass(frozen=True)
class Findings:
    """What a study found: one paragraph, the files it wrote, and its headline numbers."""

    summary: str
    files: tuple[Path, ...]
    figures: dict[str, float] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """The findings in JSON types."""
        return {"summary": self.summary, "files": [str(path) for path in self.files], "figures": self.figures}


class Study(Protocol):
    """Runs a study and writes its tables and figures into a folder."""

    def __call__(
        self,
        folder: Path,
        *,
        size: Size,
        rng: np.random.Generator | None = None,
        on_progress: Callable[[int, int], None] | None = None,
    ) -> Findings:
        """What was found."""


def load(name: str) -> Study:
    """The function `run` of the study of that name."""
    if name not in STUDIES:
        raise InvalidArgument(f"no study {name!r}; choose among {', '.join(sorted(STUDIES))}")
    study: Study = import_module(f"bruit.apps.studies.{STUDIES[name][0]}").run
    return study
