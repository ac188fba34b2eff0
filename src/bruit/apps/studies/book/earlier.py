"""Figures of studies that take hours or a graphics card, measured earlier, and the page that tells how."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Earlier:
    """Why a study is not run with the others, and what it found when it was: what, theirs, ours.

    `commit` is where the figures were first told, `machine` what they were measured on; `page` says how.
    """

    why: str
    page: str
    commit: str
    machine: str
    rows: Sequence[tuple[str, str, str]]


CARD = "one NVIDIA H200, torch 2.11"
CORES = "two cores, x86_64, without a graphics card"


EARLIER = {
    "mnist": Earlier(
        "about an hour on two cores",
        "deep_studies.md",
        "4b609b5",
        CORES,
        (
            ("the thesis's network without privacy, five seeds", "99.0 %", "98.79 ± 0.26 %"),
            ("the thesis's network with noise 1 and clip 1, five seeds", "91.2 %", "92.05 ± 0.33 %"),
            ("ε of that run, by the thesis's accountant", "not printed", "1.10"),
            ("linear head over scattering, ε = 1.17, δ = 1e-5", "–", "98.60 ± 0.05 %"),
            ("linear head over scattering, ε = 3, δ = 1e-5", "–", "98.97 ± 0.08 %"),
        ),
    ),
    "flowers": Earlier(
        "a graphics card, and images that no study may fetch",
        "deep_studies.md",
        "da80878",
        CARD,
        (
            ("ε of the thirteen rows of table 1, furthest from the printed", "8.3 to 4.0", "within 0.05"),
            ("right answers without privacy", "94 % (VGG16)", "95.2 % (three networks, linear head)"),
            ("ε = 8.3, δ = 1e-4", "57 %", "92.0 ± 0.7 %"),
            ("ε = 4, δ = 1e-4", "43.6 %", "88.9 ± 0.8 %"),
            ("ε = 2, δ = 1e-4", "–", "82.4 ± 0.8 %"),
            ("ε = 1, δ = 1e-4", "–", "70.4 ± 0.5 %"),
        ),
    ),
    "cifar10": Earlier(
        "a graphics card",
        "deep_studies.md",
        "bd931b4",
        CARD,
        (
            ("eyes that learned from noise, six views, ε = 1, δ = 1e-5", "no figure", "76.81 ± 0.21 %"),
            ("the same at ε = 3", "no figure", "80.24 ± 0.28 %"),
            ("the same at ε = 8", "no figure", "82.31 ± 0.22 %"),
            ("scattering at ε = 3", "no figure", "69.61 ± 0.18 %"),
        ),
    ),
}
"""By the name of the study; `bruit study NAME --book` puts a page of its own in the place of these."""
