"""The bytes of GPU memory that the thesis (S2) measured, forecast from shapes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from bruit.apps.studies.memory.document import MEGABYTE, document_adds
from bruit.apps.studies.printed.rows import GIVEN, LEFT, Printed, spaced

MEASURED = (
    (26, 64, 62_397_952, 9_634_304, 72_032_256),
    (28, 64, 62_599_680, 9_634_304, 72_233_984),
    (30, 64, 62_800_896, 9_634_304, 72_435_200),
    (32, 1, 63_002_624, 151_040, 63_153_664),
    (4096, 128, 472_932_864, 19_268_608, 492_201_472),
    (4096, 256, 472_932_864, 38_537_216, 511_470_680),
    (4096, 512, 472_932_864, 77_598_720, 550_531_584),
    (4100, 64, 472_933_376, 9_634_304, 482_567_680),
)
"""Hidden units, batch size, bytes once the model was loaded, bytes that halved images added, and both together."""

BOUNDS = {
    26: 63_386_062,
    28: 63_588_836,
    30: 63_791_610,
    32: 63_994_384,
    4096: 476_031_152,
    4100: 476_436_700,
}
"""Bytes of the model by the thesis's bound, as printed beside them."""

ESTIMATES = {
    26: 62_536_185,
    28: 62_738_333,
    30: 62_940_481,
    32: 63_142_628,
    4096: 473_906_551,
    4100: 474_310_847,
}
"""Bytes of the model by a line that the thesis fitted and does not print."""

SIDE, REDUCED = 112, 2
"""Pixels on a side of an image, after its sides were reduced by two."""

UNITS, BATCH = 512, 16
KIBIBYTE = 1024


def rows() -> Iterator[Printed]:
    """Every measured number of memory, and what the formulas add up to."""
    yield from measured_rows()
    yield from fit_rows()
    yield from private_rows()


def measured_rows() -> Iterator[Printed]:
    """The bytes of models and of images, one configuration after another."""
    for units, batch, loaded, images, both in MEASURED:
        before, after = forecast_bytes(units, batch)
        yield Printed("S2.17", f"bytes of a model with {units} units", spaced(loaded), spaced(before), "", "memory")
        bound = document_adds("model", hidden_units=units, batch_size=batch, reduction=REDUCED, private=False)
        why = "Its bound, from its formula; the forecast above is exact."
        yield Printed("S2.17", "bytes of that model, at most", spaced(BOUNDS[units]), spaced(bound), why, "memory")
        what = f"bytes of {batch} image{'s' * (batch > 1)}, {units} units"
        yield Printed("S2.17", what, spaced(images), spaced(after - before), "", "memory")
        why = "" if both == after else "The two numbers above it add up to ours."
        yield Printed("S2.17", "that model and those images", spaced(both), spaced(after), why, "memory")


def fit_rows() -> Iterator[Printed]:
    """How far the thesis's estimates are from what it measured, and what an image takes."""
    first, last = min(ESTIMATES), max(ESTIMATES)
    slope = (ESTIMATES[last] - ESTIMATES[first]) / (last - first)
    line = [spaced(ESTIMATES[first] + slope * (units - first)) for units in ESTIMATES]
    why = f"A line of {slope:,.1f} bytes a unit through the first and the last: its own line is not printed."
    what = f"estimates of the model's bytes, {first} to {last} units"
    theirs = ", ".join(map(spaced, ESTIMATES.values()))
    yield Printed("S2.17", what, theirs, ", ".join(line), why.replace(",", " ", 1), "memory")
    off = max(abs(forecast_bytes(units, batch)[0] / loaded - 1) for units, batch, loaded, *_ in MEASURED)
    why = "Its line is fitted to what it measured; the forecast comes from the shapes and the allocator's rounding."
    what = "how far an estimate of the model is off, at most"
    yield Printed("S2.17", what, "0.29 %", f"{100 * off:.2f} %", why, "memory")
    above = {units: BOUNDS[units] - loaded for units, _, loaded, *_ in MEASURED}
    share = max(above[units] / loaded for units, _, loaded, *_ in MEASURED)
    why = "Of the rows that it prints, in megabytes of a million bytes."
    ours = f"{100 * share:.1f} %, {max(above.values()) / MEGABYTE:.1f} MB"
    yield Printed("S2.17", "how far the bound of the model is above, at most", "1.6 %, 3.4 MB", ours, why, "memory")
    why = "Its bound less its measured bytes; the last is 3 421, as its 0.74 % of the same row says too."
    ours = ", ".join(spaced(above[units] / KIBIBYTE) for units in (26, 4100))
    yield Printed("S2.17", "the same in kB, 26 and 4100 units", "965, 3 211", ours, why, "memory")
    each = [
        (after - before) * REDUCED**2 / batch / KIBIBYTE
        for _, batch, *_ in MEASURED
        for before, after in [forecast_bytes(UNITS, batch)]
    ]
    why = "588 and the allocator's rounding, which its factors between 1 and 2 stand for."
    ours = f"{min(each):.0f} to {max(each):.0f}"
    yield Printed("S2.17", "kB of an image, in its four cases", "600, 615, 820, 1 176", ours, why, "memory")
    image = document_adds("batch", hidden_units=UNITS, batch_size=1, reduction=1, private=False)
    yield Printed("S2.17", "bytes of an image", "588 × 1 024", spaced(image), "The same number.")
    why = "Found by trial on its card; the study sets the formulas beside what is measured."
    what = "bytes a hidden unit of the model, the backward pass, a step and a private step"
    yield Printed("S2.17", what, "101 387, 101 000, 224 105, 108 500 (2 + BS)", GIVEN, why, "memory")
    what = "bytes beside them: of the model, the backward pass and a private backward pass"
    yield Printed("S2.17", what, "60 750 000, 1 339 400, 7 489 400", GIVEN, why, "memory")
    what = "bytes that a private backward pass jumps by where 8 divides the units, below 128, 240 and 512"
    yield Printed("S2.17", what, "88 000 BS, 18 850 000, 5 821 000", GIVEN, why, "memory")
    why = "Of its own measurements, which are not printed; the study has a grid of its own."
    yield Printed("S2.17", "how far the bound of a step is above, at most", "11.2 %", LEFT, why, "memory")
    yield Printed("S2.17", "configurations that were measured", "6 160", LEFT, why, "memory")


def private_rows() -> Iterator[Printed]:
    """What privacy adds by the thesis's formulas."""
    why = "What its formulas add up to; our private step holds no gradient for each sample and adds far less."
    full, empty = (
        document_adds("step", hidden_units=UNITS, batch_size=batch, reduction=REDUCED, private=True)
        for batch in (BATCH, 0)
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


@cache
def forecast_bytes(units: int, batch: int) -> tuple[int, int]:
    """The bytes that are held once the model is loaded, and once the images are."""
    from torch import device

    from bruit.apps.networks import FrozenVGG
    from bruit.deep.memory import forecast

    with device("meta"):
        model = FrozenVGG(units)
    told = forecast(model, (3, SIDE, SIDE), batch_size=batch, private=False)
    return told.stage("model").allocated, told.stage("batch").allocated


def _backward_adds(units: int) -> float:
    """The bytes that privacy adds to the backward pass, by the thesis's formulas."""
    private, plain = (
        document_adds("backward", hidden_units=units, batch_size=BATCH, reduction=REDUCED, private=each)
        for each in (True, False)
    )
    return private - plain
