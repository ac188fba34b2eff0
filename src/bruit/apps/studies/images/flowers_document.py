"""The thesis's table of private trainings on 102 flowers, and the ε that its settings cost.

[docs/spec.md S2.16]
"""

from __future__ import annotations

import polars

from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.privacy import plan

SIZE, DELTA, SOUND_DELTA = 6552, 1e-4, 1e-5
COLUMNS = ("batch_size", "noise", "clip", "rate", "epochs", "said_epsilon", "said_accuracy")
TABLE = (
    (64, 1.0, 10, 8e-4, 150, 8.3, 57.0),
    (64, 1.0, 10, 8e-4, 143, 8.1, 56.8),
    (64, 1.0, 10, 8e-4, 125, 7.5, 56.7),
    (64, 1.1, 12, 7e-4, 120, 6.2, 56.1),
    (64, 1.1, 10, 7e-4, 105, 5.8, 54.4),
    (32, 0.9, 8, 7e-4, 97, 5.4, 50.6),
    (64, 1.2, 14, 7e-4, 105, 5.0, 50.4),
    (64, 1.2, 14, 7e-4, 102, 4.9, 50.0),
    (32, 0.9, 8, 8e-4, 95, 5.3, 49.8),
    (32, 0.9, 8, 7e-4, 77, 4.8, 49.0),
    (64, 1.2, 14, 7e-4, 95, 4.7, 48.3),
    (32, 0.9, 8, 8e-4, 60, 4.2, 46.1),
    (64, 1.2, 14, 7e-4, 69, 4.0, 43.6),
)
"""Table 1: plain gradient descent, a head of 512 units over VGG16, images reduced by 2."""

WITHOUT_PRIVACY = 94.0


def table() -> polars.DataFrame:
    """The thesis's table 1 with the ε of each row: by its own accountant, by pld, and by pld at a sound δ."""
    said = polars.DataFrame(TABLE, COLUMNS, orient="row")
    ways = {"rdp_simple": ("rdp-simple", DELTA), "pld": ("pld", DELTA), "pld_sound": ("pld", SOUND_DELTA)}
    return said.with_columns(
        **{name: polars.Series([row_epsilon(row, by, delta) for row in TABLE]) for name, (by, delta) in ways.items()}
    )


def row_epsilon(row: tuple[float, ...], by: str, delta: float = DELTA) -> float:
    """The ε of one row of table 1 by an accountant."""
    batch, noise, _, _, epochs, *_ = row
    return plan(
        size=SIZE,
        batch_size=int(batch),
        noise_multiplier=noise,
        epochs=int(epochs),
        delta=delta,
        neighbours=ADD_OR_REMOVE_ONE,
        by=by,
    ).epsilon
