"""The bytes of GPU memory that the thesis (S2) measured, forecast from shapes."""

from __future__ import annotations

from collections.abc import Iterator

from bruit.apps.studies.memory.document import MEGABYTE, document_adds
from bruit.apps.studies.printed.rows import Printed, spaced

MEASURED = (
    (26, 64, 62_397_952, 9_634_304),
    (28, 64, 62_599_680, 9_634_304),
    (30, 64, 62_800_896, 9_634_304),
    (32, 1, 63_002_624, 151_040),
    (4096, 128, 472_932_864, 19_268_608),
    (4096, 256, 472_932_864, 38_537_216),
    (4096, 512, 472_932_864, 77_598_720),
    (4100, 64, 472_933_376, 9_634_304),
)
"""Hidden units, batch size, bytes after the model was loaded, bytes that the images added; images reduced by 2."""

SIDE = 112
UNITS, BATCH = 512, 16


def rows() -> Iterator[Printed]:
    """Every measured number of memory, and what the formulas add up to."""
    from torch import device

    from bruit.apps.networks import FrozenVGG
    from bruit.deep.memory import forecast

    for units, batch, loaded, images in MEASURED:
        with device("meta"):
            model = FrozenVGG(units)
        told = forecast(model, (3, SIDE, SIDE), batch_size=batch, private=False)
        before = told.stage("model").allocated
        yield Printed("S2.17", f"bytes of a model with {units} units", spaced(loaded), spaced(before), "", "memory")
        added = told.stage("batch").allocated - before
        yield Printed("S2.17", f"bytes of {batch} images, {units} units", spaced(images), spaced(added), "", "memory")
    why = "What its formulas add up to; our private step holds no gradient for each sample and adds far less."
    full, empty = (
        document_adds("step", hidden_units=UNITS, batch_size=batch, reduction=2, private=True) for batch in (BATCH, 0)
    )
    what = f"MB that privacy adds to batches of {BATCH}, {UNITS} units"
    yield Printed("S2.17", what, "889", f"{(full - empty) / MEGABYTE:.0f}", why, "memory")
    image = document_adds("batch", hidden_units=UNITS, batch_size=1, reduction=1, private=False)
    yield Printed("S2.17", "bytes of an image", "588 × 1 024", spaced(image), "The same number.")
