"""Flowers from their publisher: split as the thesis has them, cropped once, and read like the checked copy."""

import io
import tarfile
import zipfile
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from PIL import Image

from bruit.apps.data import files, flowers, images


def test_the_split_is_the_thesis_s() -> None:
    homes = flowers.folders()
    assert Counter(home.split("/")[0] for home in homes) == {"train": 6552, "valid": 818, "test": 819}
    assert {int(home.split("/")[1]) for home in homes} == set(range(1, 103))


def test_the_split_is_that_of_the_cropped_copy() -> None:
    here = files.place(flowers.CROPPED)
    if here is None:
        pytest.skip("the cropped flowers are not here")
    with zipfile.ZipFile(here) as archive:
        known = {name for name in archive.namelist() if name.endswith(".jpg")}
    assert known == {f"{home}/image_{number:05d}.jpg" for number, home in enumerate(flowers.folders(), 1)}


def test_flowers_are_cropped_on_a_clean_machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    published = _archive()
    monkeypatch.setenv("BRUIT_DATA", str(tmp_path / "nowhere"))
    monkeypatch.setattr(files, "cache", lambda: tmp_path)
    monkeypatch.setattr(files, "urlopen", lambda *_, **__: io.BytesIO(published))
    monkeypatch.setattr(flowers, "ARCHIVE", replace(flowers.ARCHIVE, digests=(sha256(published).hexdigest(),)))
    assert images.flowers102().stands_in
    made = flowers.prepare()
    assert made == flowers.prepare() == flowers.prepared()
    with zipfile.ZipFile(made) as archive:
        assert archive.namelist() == [
            f"{flowers.folders()[number - 1]}/image_{number:05d}.jpg" for number in (1, 5, 28)
        ]
        with Image.open(io.BytesIO(archive.read(archive.namelist()[0]))) as image:
            assert image.size == (144, 144)
            assert image.getpixel((2, 72))[0] > 200  # type: ignore[index]  # the middle is red, what was cut off green
    found = images.flowers102()
    assert not found.stands_in
    assert (len(found.train), len(found.test)) == (2, 1)


def _archive() -> bytes:
    """Three images, the first a red square between green margins."""
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz") as archive:
        for number in (1, 5, 28):
            image = Image.new("RGB", (300, 200), (0, 255, 0))
            image.paste((255, 0, 0), (50, 0, 250, 200))
            content = io.BytesIO()
            image.save(content, "JPEG", quality=95)
            member = tarfile.TarInfo(f"jpg/image_{number:05d}.jpg")
            member.size = len(content.getvalue())
            archive.addfile(member, io.BytesIO(content.getvalue()))
    return packed.getvalue()
