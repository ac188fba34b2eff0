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
        "1b4bbcc",
        CARD,
        (
            ("the thesis's network without privacy, five seeds", "99.0 %", "98.84 ± 0.19 %"),
            ("the thesis's network with noise 1 and clip 1, five seeds", "91.2 %", "92.03 ± 0.49 %"),
            ("ε of that run, by the thesis's accountant", "not printed", "1.10"),
            ("linear head over scattering, ε = 1.17, δ = 1e-5", "–", "98.63 ± 0.04 %"),
            ("linear head over scattering, ε = 3, δ = 1e-5", "–", "99.02 ± 0.05 %"),
        ),
    ),
    "flowers": Earlier(
        "a graphics card, and images that no study may fetch",
        "deep_studies.md",
        "1b4bbcc",
        CARD,
        (
            ("ε of the thirteen rows of table 1, furthest from the printed", "8.3 to 4.0", "within 0.05"),
            ("right answers without privacy", "94 % (VGG16)", "95.2 % (three networks, linear head)"),
            ("ε = 8.3, δ = 1e-4, trained on 6 552 images", "57 %", "90.9 ± 0.6 %"),
            ("ε = 4, δ = 1e-4", "43.6 %", "87.7 ± 0.4 %"),
            ("ε = 2, δ = 1e-4", "–", "80.8 ± 0.8 %"),
            ("ε = 1, δ = 1e-4", "–", "65.6 ± 0.6 %"),
            ("ε = 8.3, eyes that learned from noise alone", "57 %", "60.6 ± 0.6 %"),
            ("ε = 4, eyes that learned from noise alone", "43.6 %", "56.4 ± 0.1 %"),
        ),
    ),
    "cifar10": Earlier(
        "a graphics card",
        "deep_studies.md",
        "1b4bbcc",
        CARD,
        (
            ("eyes that learned from noise, six views, ε = 1, δ = 1e-5", "no figure", "76.91 ± 0.22 %"),
            ("the same at ε = 3", "no figure", "80.22 ± 0.25 %"),
            ("the same at ε = 8", "no figure", "82.24 ± 0.19 %"),
            ("scattering at ε = 3", "no figure", "69.60 ± 0.17 %"),
        ),
    ),
}
"""By the name of the study; `bruit study NAME --book` puts a page of its own in the place of these."""
