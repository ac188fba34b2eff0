"""Loaders of images: what the files hold, and the stand-in where they are not."""

import io
import tarfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit.apps.data import files, images


@pytest.fixture
def nowhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*_: object, **__: Any) -> io.BytesIO:
        raise OSError("no network")

    monkeypatch.setenv("BRUIT_DATA", str(tmp_path))
    monkeypatch.setattr(files, "cache", lambda: tmp_path)
    monkeypatch.setattr(files, "urlopen", unreachable)


@pytest.mark.usefixtures("nowhere")
@pytest.mark.parametrize(("load", "shape"), [(images.mnist, (1, 28, 28)), (images.cifar10, (3, 32, 32))])
def test_a_stand_in_takes_the_place_of_missing_files_and_says_so(
    load: Callable[..., Any], shape: tuple[int, ...]
) -> None:
    found = load()
    assert found.train.shape[1:] == shape
    assert (len(found.train), len(found.test), found.classes) == (1400, 397, 10)
    assert "stand-in" in found.note


@pytest.mark.usefixtures("nowhere")
def test_flowers_are_never_fetched() -> None:
    assert images.flowers102().classes == 102


def test_real_mnist_has_the_published_digits() -> None:
    if images.place(images.MNIST[0]) is None:  # type: ignore[attr-defined]
        pytest.skip("MNIST is not here")
    found = images.mnist()
    assert (found.train.shape, found.test.shape) == ((60_000, 1, 28, 28), (10_000, 1, 28, 28))
    assert np.bincount(found.labels).tolist() == [5923, 6742, 5958, 6131, 5842, 5421, 5918, 6265, 5851, 5949]
    assert found.first(100, 10).held_out == 20


def test_cifar_batches_are_read_as_published() -> None:
    rows = np.arange(2 * 3073, dtype=np.uint8).reshape(2, 3073)
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive:
        for name in (*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"):
            member = tarfile.TarInfo(f"cifar-10-batches-bin/{name}.bin")
            member.size = rows.nbytes
            archive.addfile(member, io.BytesIO(rows.tobytes()))
    found = images._from_batches(packed.getvalue())
    assert (found.train.shape, found.test.shape) == ((10, 3, 32, 32), (2, 3, 32, 32))
    assert found.labels[:2].tolist() == rows[:, 0].tolist()
    assert found.train[1].reshape(-1).tolist() == rows[1, 1:].tolist()


def test_ranks_count_within_classes() -> None:
    assert images._ranks(np.array([2, 0, 2, 0, 0])).tolist() == [0, 0, 1, 1, 2]
