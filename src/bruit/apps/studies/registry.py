"""The list of studies; each is imported only when it runs."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np

from bruit.apps.extras import require_extras
from bruit.apps.findings import Findings, Size
from bruit.errors import InvalidArgument

STUDIES: dict[str, tuple[str, str, tuple[str, ...]]] = {
    "attacks": (
        "studies.attacks.study",
        "A gallery of attacks, each with its defence and audit: linkage, traces, models stolen and inverted, people "
        "told from counts; the studies membership and reconstruction belong to it.",
        ("learn", "plot"),
    ),
    "belief": (
        "studies.meaning.belief",
        "What may be believed of a person after an answer: the thesis's table and figures.",
        ("plot",),
    ),
    "noise": (
        "studies.meaning.noise_laws",
        "The laws of noise: Laplace beside Gauss, two neighbouring tables, and many questions under one budget.",
        ("plot",),
    ),
    "trust": (
        "studies.meaning.trust",
        "One question under three kinds of trust: a curator, a shuffler (a process of its own), nobody.",
        ("plot", "web"),
    ),
    "boosting": (
        "studies.boosting",
        "The lecture's regression tree and gradient boosting: one tree, then many that mend each other's errors.",
        ("learn", "plot"),
    ),
    "budget": (
        "studies.budget",
        "The ε of a training run against order, size, batch, noise, epochs and δ.",
        ("plot",),
    ),
    "cifar10": (
        "studies.images.cifar10",
        "CIFAR-10 without other photographs: private heads over scattering and over “eyes” that learned from noise.",
        ("deep", "learn", "plot"),
    ),
    "firefighters": (
        "studies.publishing.firefighters",
        "Calls of firefighters forecast from a k-anonymous table, from noised counts and from a synthetic table.",
        ("plot",),
    ),
    "flowers": (
        "studies.images.flowers",
        "102 flowers: the thesis's table, its curves, and private heads over frozen networks.",
        ("deep", "learn", "plot", "networks"),
    ),
    "memory": (
        "studies.memory.study",
        "The memory of training steps: forecast, measured, and by the thesis's formulas.",
        ("deep", "plot"),
    ),
    "mnist": (
        "studies.images.mnist",
        "Digits: the thesis's network with and without privacy, and a modern recipe.",
        ("deep", "learn", "plot"),
    ),
    "codes": (
        "studies.codes",
        "Codes over noise and over randomised response: capacity, composition, media, error curves.",
        ("plot",),
    ),
    "deciles": (
        "studies.deciles",
        "Nine private deciles, mechanism by mechanism, against n and ε, beside their bounds.",
        ("plot",),
    ),
    "economics": (
        "studies.meaning.economics",
        "The economic choice of ε: what a study needs to be right, and what its people are to be paid for the risk.",
        ("plot",),
    ),
    "inference": (
        "studies.inference",
        "Intervals for the population and tests from noisy counts: how often they hold and reject, over n and ε.",
        ("plot",),
    ),
    "joint-quantiles": (
        "studies.joint_quantiles.study",
        "Joint quantiles enumerated: the exact laws of neighbouring tables, and the largest loss between them.",
        ("plot",),
    ),
    "krr-regression": (
        "studies.surveys.krr_regression",
        "Regression on randomised answers: a likelihood that knows the coins, beside one that does not.",
        ("plot",),
    ),
    "income": (
        "studies.income",
        "Private trees and additive models on the income of UCI Adult: AUC against ε, beside DP-EBM.",
        ("learn", "plot"),
    ),
    "knn": (
        "studies.knn.study",
        "Nearest neighbours with noise on the votes, for each question and for all, on four tables.",
        ("learn", "plot"),
    ),
    "krr-learning": (
        "studies.surveys.krr_learning",
        "Learning from answers that everybody randomised: a forest, and estimators that know the channel.",
        ("learn", "plot"),
    ),
    "krr-marital": (
        "studies.surveys.krr_marital",
        "Randomised response on the marital status of UCI Adult, against its theory.",
        ("plot",),
    ),
    "membership": (
        "studies.membership.study",
        "Who was in the training set: two attacks on an overfit network, with and without privacy.",
        ("deep", "learn"),
    ),
    "rappor": (
        "studies.surveys.rappor",
        "RAPPOR decoded: normal and exponential laws, Windows processes, Chrome homepages.",
        ("plot",),
    ),
    "printed": (
        "studies.printed.study",
        "Every number and figure that the five documents print, beside ours, and what differs and why.",
        ("deep", "learn", "plot"),
    ),
    "planted": (
        "faults.planted",
        "Classic faults of private mechanisms, planted on purpose, and the test that catches each.",
        ("learn",),
    ),
    "reconstruction": (
        "studies.reconstruction",
        "Secret bits from noisy counts: the threshold at the root of n, and every question asked.",
        (),
    ),
    "trees": (
        "studies.trees",
        "The lecture's trees: entropy, a cross-validated tree on wine, and the tree drawn.",
        ("learn", "plot"),
    ),
}
"""The module of each study, what it shows, and the extras that it needs, by name."""


class Study(Protocol):
    """The signature of a study: runs, and writes its tables and figures into a folder."""

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
    """Imports the study of that name and returns its function `run`."""
    if name not in STUDIES:
        raise InvalidArgument(f"no study {name!r}; choose among {', '.join(sorted(STUDIES))}")
    module, _, extras = STUDIES[name]
    require_extras(f"the study {name}", *extras)
    study: Study = import_module(f"bruit.apps.{module}").run
    return study
