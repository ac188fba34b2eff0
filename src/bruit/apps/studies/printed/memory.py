"""The bytes of GPU memory that the thesis (S2) measured, forecast from shapes."""

from __future__ import annotations

from collections.abc import Iterator

from bruit.apps.studies.memory.document import MEGABYTE, document_adds
from bruit.apps.studies.printed.rows import LEFT, Printed, spaced

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

BOUNDS = {
    26: 63_386_062,
    28: 63_588_836,
    30: 63_791_610,
    32: 63_994_384,
    4096: 476_031_152,
    4100: 476_436_700,
}
"""Bytes of the model by the thesis's bound, as printed beside them."""

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
        bound = document_adds("model", hidden_units=units, batch_size=batch, reduction=2, private=False)
        why = "Its bound, from its formula; the forecast above is exact."
        yield Printed("S2.17", "bytes of that model, at most", spaced(BOUNDS[units]), spaced(bound), why, "memory")
        added = told.stage("batch").allocated - before
        yield Printed("S2.17", f"bytes of {batch} images, {units} units", spaced(images), spaced(added), "", "memory")
    why = "What its formulas add up to; our private step holds no gradient for each sample and adds far less."
    full, empty = (
        document_adds("step", hidden_units=UNITS, batch_size=batch, reduction=2, private=True) for batch in (BATCH, 0)
    )
    what = f"MB that privacy adds to batches of {BATCH}, {UNITS} units"
    yield Printed("S2.17", what, "889", f"{(full - empty) / MEGABYTE:.0f}", why, "memory")
    per_image = f"{(full - empty) / BATCH / MEGABYTE:.3f} BS"
    yield Printed("S2.17", f"the same for batches of BS, {UNITS} units", "55.552 BS", per_image, "", "memory")
    why = "By its formulas; batches from 215 pass 25 MB where 8 divides the hidden units and they are below 128."
    least, most = (f"{_backward_adds(units) / MEGABYTE:.4g}" for units in (UNITS, 128))
    what = "MB that privacy adds to the backward pass, least and most"
    yield Printed("S2.17", what, "6.15, 25", f"{least}, {most}", why, "memory")
    why = "Of its own measurements, which are not printed; the allocator rounds, and keeps more than is held."
    yield Printed("S2.17", "GB computed, and a card's that overflowed", "6, 12", LEFT, why, "memory")
    image = document_adds("batch", hidden_units=UNITS, batch_size=1, reduction=1, private=False)
    yield Printed("S2.17", "bytes of an image", "588 × 1 024", spaced(image), "The same number.")


def _backward_adds(units: int) -> float:
    """The bytes that privacy adds to the backward pass, by the thesis's formulas."""
    private, plain = (
        document_adds("backward", hidden_units=units, batch_size=BATCH, reduction=2, private=each)
        for each in (True, False)
    )
    return private - plain
