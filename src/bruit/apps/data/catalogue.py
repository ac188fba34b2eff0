"""The public data sets that are read from files, by name."""

from dataclasses import dataclass

from bruit.apps.data import census, images
from bruit.apps.data.files import PublicFile


@dataclass(frozen=True)
class DataSet:
    """A public data set: its description and its files."""

    what: str
    files: tuple[PublicFile, ...]


CATALOGUE = {
    "adult": DataSet("UCI Adult: 48 842 people of the 1994 census", (census.TRAINING, census.TEST)),
    "cifar10": DataSet("CIFAR-10: 60 000 small colour images of ten kinds", (images.CIFAR_BINARY,)),
    "mnist": DataSet("MNIST: 70 000 handwritten digits", images.MNIST),
}
"""The data sets; those inside an installed package (the survey of the demo) need no file."""
