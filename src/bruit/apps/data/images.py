"""Labelled images: MNIST, the 102 flowers and CIFAR-10, or scikit-learn's digits where their files are missing."""

from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bruit.apps.data import flowers
from bruit.apps.data.files import PublicFile, find, place
from bruit.errors import MissingData, MissingExtra

Pixels = NDArray[np.uint8]
Labels = NDArray[np.int64]

MIRROR = "https://ossci-datasets.s3.amazonaws.com/mnist"
MNIST = tuple(
    PublicFile(f"mnist/{name}-ubyte.gz", f"{MIRROR}/{name}-ubyte.gz", digests)
    for name, digests in {
        "train-images-idx3": (
            "440fcabf73cc546fa21475e81ea370265605f56be210a4024d2ca8f203523609",
            "0b367032e93c5d0cea0925647cfdb18614af8ee15f83e6f2fc2ad904a6835971",  # packed again
        ),
        "train-labels-idx1": (
            "3552534a0a558bbed6aed32b30c495cca23d567ec52cac8be1a0730e8010255c",
            "1787548bbe0bff1ec2ecdc0ef292b02df999e2d1a6002d27500982c652b17203",
        ),
        "t10k-images-idx3": (
            "8d422c7b0a1c1c79245a5bcf07fe86e33eeafee792b84584aec276f5a2dbc4e6",
            "1a1a05eab793c14bb050b398624a11b0ffd1a2953baed553b1b9bd079e2a20be",
        ),
        "t10k-labels-idx1": (
            "f7ae60f92e00ec6debd23a6088c31dbd2371eca3ffa0defaefb259924204aec6",
            "b91679a0acfe4ba0e50a2437a903084cba1f5f92592b016a25a7dfd00455798b",
        ),
    }.items()
)
CIFAR_BINARY = PublicFile(
    "cifar10/cifar-10-binary.tar.gz",
    "https://www.cs.toronto.edu/~kriz/cifar-10-binary.tar.gz",
    ("c4a38c50a1bc5f3a1c5537f2155ab9d68f9f25eb1ed8d9ddda3db29a59bca1dd",),
)
CIFAR_JPEG = PublicFile(
    "cifar10/cifar10-jpeg.tar.xz",
    CIFAR_BINARY.address,
    ("613bffa31430dd9578c0a742c42ae36f0f2ff20bf75d41bea3cde4dc33da81d5",),
)
STAND_IN = "The files are not here: a stand-in, 1 797 digits of 8 by 8 pixels inside scikit-learn, took their place."


@dataclass(frozen=True, eq=False)
class Images:
    """Images as bytes of (records, colours, height, width); the last `held_out` training ones are for validation."""

    train: Pixels
    labels: Labels
    test: Pixels
    test_labels: Labels
    classes: int
    held_out: int
    note: str = ""

    @property
    def stands_in(self) -> bool:
        """Whether these are other images in the place of a set that is not here."""
        return self.note == STAND_IN

    def first(self, train: int, test: int) -> Images:
        """The first few training and test images, for a quick run."""
        held_out = min(self.held_out, train // 5)
        some = (self.train[:train], self.labels[:train], self.test[:test], self.test_labels[:test])
        return Images(*some, self.classes, held_out, self.note)


def mnist() -> Images:
    """60 000 handwritten digits to train on and 10 000 to test, of 28 by 28 pixels."""
    try:
        files = [gzip.decompress(find(file).read_bytes()) for file in MNIST]
    except MissingData:
        return stand_in(28, colours=1, classes=10)
    train, labels, test, test_labels = files
    return Images(_digits(train), _numbers(labels), _digits(test), _numbers(test_labels), 10, 5000)


def cifar10() -> Images:
    """50 000 small colour images of ten classes to train on and 10 000 to test; a JPEG copy is used if present."""
    if place(CIFAR_JPEG) is not None:
        return _pictures(_from_tar(CIFAR_JPEG), held_out=5000, test=("test",), note="The copy was re-encoded as JPEG.")
    try:
        archive = find(CIFAR_BINARY)
    except MissingData:
        return stand_in(32, colours=3, classes=10)
    return _from_batches(archive.read_bytes())


def flowers102() -> Images:
    """All 8 189 Oxford flowers, centre-cropped to 144 by 144: 6 552 for training, 818 for validation, 819 for test.

    Only the folder of data sets and the cache are looked into: `bruit data fetch flowers102` fetches and crops them.
    """
    here = flowers.prepared()
    if here is None:
        return stand_in(144, colours=3, classes=102)
    with zipfile.ZipFile(here) as archive:
        files = [(name, archive.read(name)) for name in sorted(archive.namelist()) if name.endswith(".jpg")]
    return _pictures(files, held_out=818, test=("test",), note="")


def stand_in(side: int, *, colours: int, classes: int) -> Images:
    """scikit-learn's digits, enlarged, in the place of a missing set with `classes` classes."""
    try:
        from sklearn.datasets import load_digits
    except ImportError as error:
        raise MissingExtra("a stand-in for images that are not here", "learn") from error
    found = load_digits()
    small = np.rint(np.asarray(found.images) * (255 / 16)).astype(np.uint8)
    places = np.arange(side) * small.shape[1] // side
    large = np.repeat(small[:, None, places[:, None], places[None, :]], colours, axis=1)
    labels = np.asarray(found.target, dtype=np.int64)
    return Images(large[:1400], labels[:1400], large[1400:], labels[1400:], classes, 200, STAND_IN)


def _digits(content: bytes) -> Pixels:
    return np.frombuffer(content, np.uint8, offset=16).reshape(-1, 1, 28, 28).copy()


def _numbers(content: bytes) -> Labels:
    return np.frombuffer(content, np.uint8, offset=8).astype(np.int64)


def _from_tar(file: PublicFile) -> list[tuple[str, bytes]]:
    with tarfile.open(find(file)) as archive:
        found = []
        for member in archive:
            opened = archive.extractfile(member) if member.name.endswith(".jpg") else None
            if opened is not None:
                found.append((member.name, opened.read()))
    return found


def _pictures(files: Sequence[tuple[str, bytes]], *, held_out: int, test: tuple[str, ...], note: str) -> Images:
    """Images in folders part/class/name; where no part is for choosing, it is the last of every class."""
    from PIL import Image

    parts = [name.split("/") for name, _ in files]
    kinds = sorted({part[-2] for part in parts}, key=lambda kind: (len(kind), kind) if kind.isdigit() else (0, kind))
    labels = np.array([kinds.index(part[-2]) for part in parts], dtype=np.int64)
    pixels = np.stack([np.asarray(Image.open(io.BytesIO(content)).convert("RGB")) for _, content in files])
    pixels = pixels.transpose(0, 3, 1, 2)
    tests = np.array([part[-3] in test for part in parts])
    chosen = np.array([part[-3] == "valid" for part in parts])
    order = np.lexsort((labels, _ranks(labels), chosen))
    train = order[~tests[order]]
    return Images(pixels[train], labels[train], pixels[tests], labels[tests], len(kinds), held_out, note)


def _ranks(labels: Labels) -> Labels:
    """The running number of each record within its class."""
    order = np.argsort(labels, kind="stable")
    starts = np.searchsorted(labels[order], labels[order])
    ranks = np.empty_like(labels)
    ranks[order] = np.arange(len(labels)) - starts
    return ranks


def _from_batches(content: bytes) -> Images:
    """Six files of 10 000 rows: the class, then 3 072 bytes."""
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        names = [
            f"cifar-10-batches-bin/{name}.bin" for name in (*(f"data_batch_{n}" for n in range(1, 6)), "test_batch")
        ]
        blobs = []
        for name in names:
            opened = archive.extractfile(name)
            assert opened is not None
            blobs.append(np.frombuffer(opened.read(), np.uint8).reshape(-1, 3073))
    rows, test = np.concatenate(blobs[:5]), blobs[5]
    shape = (-1, 3, 32, 32)
    return Images(
        rows[:, 1:].reshape(shape),
        rows[:, 0].astype(np.int64),
        test[:, 1:].reshape(shape),
        test[:, 0].astype(np.int64),
        10,
        5000,
    )
