"""The networks of the deep benchmarks: those of the studies, with the shapes that are measured.

The studies' file imports torch alone and is read by its path, so that peers, in whose environments there is no bruit,
run the same networks.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

import torch
from torch import Tensor, nn

FILE = Path(__file__).parents[2] / "src" / "bruit" / "apps" / "networks.py"


def _read(name: str, file: Path) -> ModuleType:
    """A module that stands under a name of its own: torch.compile looks for it there."""
    spec = spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[name] = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


networks: Any = _read("networks_of_studies", FILE)


class ThesisCNN(networks.DigitsNetwork):  # type: ignore[misc]
    shape, classes = (1, 28, 28), 10


class FrozenVGG(networks.FrozenVGG):  # type: ignore[misc]
    shape, classes = (3, 112, 112), 102


class WideResNet(networks.WideResNet):  # type: ignore[misc]
    shape, classes = (3, 32, 32), 10


class SmallViT(networks.SmallViT):  # type: ignore[misc]
    shape, classes = (3, 224, 224), 102


class Adapted(nn.Module):
    """A frozen linear layer plus a trained product of two narrow ones, Wx + BAx.                [Hu et al. 2022]"""

    def __init__(self, layer: nn.Linear, rank: int) -> None:
        super().__init__()
        self.layer = layer
        self.down = nn.Linear(layer.in_features, rank, bias=False)
        self.up = nn.Linear(rank, layer.out_features, bias=False)
        nn.init.zeros_(self.up.weight)

    def forward(self, values: Tensor) -> Tensor:
        found: Tensor = self.layer(values) + self.up(self.down(values))
        return found


class AdaptedViT(SmallViT):
    """The same, frozen but for its head and low-rank adapters beside the linear layers of its blocks."""

    def __init__(self, rank: int = 8) -> None:
        super().__init__()
        self.requires_grad_(requires_grad=False)
        self.out.requires_grad_()
        for block in self.blocks:
            for name, layer in list(block.named_modules()):
                if isinstance(layer, nn.Linear):
                    holder, _, own = name.rpartition(".")
                    setattr(block.get_submodule(holder), own, Adapted(layer, rank))


def batch_of(model: nn.Module, size: int, device: str = "cpu") -> tuple[Tensor, Tensor]:
    """Random images and labels of the shapes of a model."""
    drawn = torch.Generator().manual_seed(1)
    images = torch.randn(size, *model.shape, generator=drawn)  # type: ignore[misc]
    labels = torch.randint(model.classes, (size,), generator=drawn)  # type: ignore[call-overload]
    return images.to(device), labels.to(device)
