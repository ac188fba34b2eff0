"""The thesis's formulas for the memory of VGG16 under a dense head.

[docs/spec.md S2.17]
"""

from __future__ import annotations

MEASURED_UNITS, MEASURED_BYTES = 26, 62_397_952
"""Its measured row: hidden units, and the bytes allocated once the model is loaded."""

MEGABYTE = 10**6


def document_adds(stage: str, *, hidden_units: int, batch_size: int, reduction: int, private: bool) -> float:
    """The bytes that a stage of training adds, by the thesis's formulas.

    model 101387·HU + 60.75 MB, batch 224²·3·4·BS/F², backward 101000·HU + 1.3394 MB (private 7.4894 MB and a jump
    where 8 divides HU), step 224105·HU (private 108500·(2+BS)·HU)                              [docs/spec.md S2.17]
    """
    if stage == "model":
        return 101_387 * hidden_units + 60.75 * MEGABYTE
    if stage == "batch":
        return 224**2 * 3 * 4 * batch_size / reduction**2
    if stage == "backward":
        return 101_000 * hidden_units + (7_489_400 + _jump(hidden_units, batch_size) if private else 1_339_400)
    return 108_500 * (2 + batch_size) * hidden_units if private else 224_105 * hidden_units


def _jump(hidden_units: int, batch_size: int) -> int:
    """What the thesis adds to a private backward pass where 8 divides the hidden units, below 512."""
    if hidden_units % 8 or hidden_units >= 512:
        return 0
    return 88_000 * batch_size if hidden_units < 128 else 18_850_000 if hidden_units < 240 else 5_821_000
