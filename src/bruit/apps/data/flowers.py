"""The 102 flowers from their publisher: cropped, and split into training, validation and test as the thesis has them.

The publisher's own split trains on ten images of a class; the thesis's, 6 552 + 818 + 819, is that of a public course.
"""

from __future__ import annotations

import io
import os
import tarfile
import zipfile
from importlib.resources import files as packaged
from pathlib import Path

from bruit.apps.data import files
from bruit.apps.data.files import PublicFile, find, place

ARCHIVE = PublicFile(
    "flowers102/102flowers.tgz",
    "https://www.robots.ox.ac.uk/~vgg/data/flowers/102/102flowers.tgz",
    ("2d01ecc807db462958cfe3d92f57a8c252b4abd240eb955770201e45f783b246",),
)
CROPPED = PublicFile(
    "flowers102/flowers102-144.zip",
    ARCHIVE.address,
    ("85b271021b0e7f56bb122e2db43088e89fd318e87cea7fa484ada3ef1cfa7e09",),
)
"""A copy that is cropped already, where somebody has it."""

SIDE = 144
PREPARED = f"flowers102/prepared-{SIDE}.zip"
PARTS = {"t": "train", "v": "valid", "s": "test"}


def prepared() -> Path | None:
    """The cropped flowers on this machine: a checked copy, or those that `prepare` made; nothing is fetched."""
    if place(CROPPED) is not None:
        return find(CROPPED)
    made = files.cache() / PREPARED
    return made if made.is_file() else None


def prepare() -> Path:
    """The cropped flowers, made from the publisher's archive where they are not here."""
    here = prepared()
    if here is not None:
        return here
    made = files.cache() / PREPARED
    made.parent.mkdir(parents=True, exist_ok=True)
    unfinished = made.with_suffix(f".{os.getpid()}")
    crop(find(ARCHIVE), unfinished)
    unfinished.replace(made)  # in one step: nobody ever reads half a file
    return made


def crop(archive: Path, target: Path) -> None:
    """Writes the middle square of every image, as a zip of part/class/name."""
    homes = folders()
    with tarfile.open(archive) as packed, zipfile.ZipFile(target, "w") as written:
        for member in packed:
            opened = packed.extractfile(member) if member.name.endswith(".jpg") else None
            if opened is not None:
                name = Path(member.name).name
                written.writestr(f"{homes[int(name[6:11]) - 1]}/{name}", _middle(opened.read()))


def folders() -> list[str]:
    """The folder part/class of each image, by its number: lines of a class and the parts of images that follow."""
    lines = packaged("bruit.apps.data").joinpath("flowers102.txt").read_text(encoding="ascii").splitlines()
    return [f"{PARTS[part]}/{kind}" for kind, parts in map(str.split, lines) for part in parts]


def _middle(content: bytes) -> bytes:
    """The largest square around the middle, scaled to SIDE pixels."""
    from PIL import Image

    with Image.open(io.BytesIO(content)) as opened:
        image = opened.convert("RGB")
    side = min(image.size)
    left, top = ((length - side) // 2 for length in image.size)
    packed = io.BytesIO()
    image.resize((SIDE, SIDE), Image.Resampling.BICUBIC, box=(left, top, left + side, top + side)).save(
        packed, "JPEG", quality=90
    )
    return packed.getvalue()
