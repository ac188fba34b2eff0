"""The public data sets that are read from files, by name."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bruit.apps.data import census, flowers, images, weights
from bruit.apps.data.files import PublicFile


@dataclass(frozen=True)
class DataSet:
    """A public data set: its description and its files, and how to make what is read where those are not read as is."""

    what: str
    files: tuple[PublicFile, ...]
    prepare: Callable[[], Path] | None = None


CATALOGUE = {
    "adult": DataSet("UCI Adult: 48 842 people of the 1994 census", (census.TRAINING, census.TEST)),
    "cifar10": DataSet("CIFAR-10: 60 000 small colour images of ten kinds", (images.CIFAR_BINARY,)),
    "flowers102": DataSet(
        "102 flowers of Oxford: 8 189 images (330 MB), cropped", (flowers.CROPPED, flowers.ARCHIVE), flowers.prepare
    ),
    "mnist": DataSet("MNIST: 70 000 handwritten digits", images.MNIST),
    "vgg16": DataSet("VGG16: weights that learned from ImageNet (528 MB)", (weights.VGG16,)),
}
"""The data sets; those inside an installed package (the survey of the demo) need no file."""
