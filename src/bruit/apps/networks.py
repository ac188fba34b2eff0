"""The networks of the studies: the thesis's for digits, its frozen VGG16, and three more."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class DigitsNetwork(nn.Module):
    """The thesis's network for digits, with feature maps of 14, 13, 5 and 4.        [docs/spec.md S2.15]

    Colour images of 32 by 32 give maps of 16, 15, 6 and 5.
    """

    def __init__(self, colours: int = 1, side: int = 28) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(colours, 16, 8, 2, padding=3), nn.Conv2d(16, 32, 4, 2)
        last = (side // 2 - 5) // 2
        self.hidden, self.out = nn.Linear(32 * last**2, 32), nn.Linear(32, 10)

    def forward(self, image: Tensor) -> Tensor:
        """Ten scores for each image."""
        maps = functional.max_pool2d(functional.relu(self.first(image)), 2, 1)
        maps = functional.max_pool2d(functional.relu(self.second(maps)), 2, 1)
        scores: Tensor = self.out(functional.relu(self.hidden(maps.flatten(1))))
        return scores


class FrozenVGG(nn.Module):
    """VGG16's convolutions, frozen, under a dense head; a state dict of torchvision's fits `features`.

    `narrow` divides all widths, for a trial run.                                              [docs/spec.md S2.16]
    """

    def __init__(
        self, hidden_units: int = 512, classes: int = 102, *, second_layer: bool = False, narrow: int = 1
    ) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for width, depth in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
            for _ in range(depth):
                layers += [nn.Conv2d(before, width // narrow, 3, padding=1), nn.ReLU(inplace=True)]
                before = width // narrow
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers).requires_grad_(requires_grad=False)
        self.pool = nn.AdaptiveAvgPool2d(7)
        middle = [nn.Linear(hidden_units, hidden_units), nn.ReLU()] if second_layer else []
        self.head = nn.Sequential(
            nn.Linear(25_088 // narrow, hidden_units), nn.ReLU(), *middle, nn.Linear(hidden_units, classes)
        )

    def forward(self, image: Tensor) -> Tensor:
        """One score for each class."""
        scores: Tensor = self.head(self.pool(self.features(image)).flatten(1))
        return scores


class _WideBlock(nn.Module):
    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.norm, self.conv = nn.GroupNorm(16, before), nn.Conv2d(before, width, 3, stride, 1)
        self.second_norm, self.second = nn.GroupNorm(16, width), nn.Conv2d(width, width, 3, 1, 1)
        self.short = nn.Conv2d(before, width, 1, stride) if before != width or stride != 1 else None

    def forward(self, maps: Tensor) -> Tensor:
        bent = functional.relu(self.norm(maps))
        found: Tensor = self.second(functional.relu(self.second_norm(self.conv(bent))))
        return found + (maps if self.short is None else self.short(bent))


class WideResNet(nn.Module):
    """WRN-16-4 with group norms, for images of 32 by 32.                                      [De et al. 2022]"""

    def __init__(self, depth: int = 16, factor: int = 4) -> None:
        super().__init__()
        blocks: list[nn.Module] = []
        before = 16
        for width, stride in ((16 * factor, 1), (32 * factor, 2), (64 * factor, 2)):
            for place in range((depth - 4) // 6):
                blocks.append(_WideBlock(before, width, stride if place == 0 else 1))
                before = width
        self.first, self.blocks = nn.Conv2d(3, 16, 3, 1, 1), nn.Sequential(*blocks)
        self.norm, self.out = nn.GroupNorm(16, before), nn.Linear(before, 10)

    def forward(self, image: Tensor) -> Tensor:
        """Ten scores for each image."""
        scores: Tensor = self.out(functional.relu(self.norm(self.blocks(self.first(image)))).mean((2, 3)))
        return scores


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.all, self.join = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.second, self.wide = nn.LayerNorm(width), nn.Linear(width, 4 * width)
        self.narrow = nn.Linear(4 * width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        batch, count, width = tokens.shape
        split = self.all(self.norm(tokens)).view(batch, count, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(batch, count, width)
        tokens = tokens + self.join(seen)
        changed: Tensor = tokens + self.narrow(functional.gelu(self.wide(self.second(tokens))))
        return changed


class SmallViT(nn.Module):
    """ViT-S/16 without learned position embeddings.                              [Dosovitskiy et al. 2021]"""

    def __init__(self, width: int = 384, depth: int = 12, heads: int = 6, patch: int = 16) -> None:
        super().__init__()
        self.patch, self.embed = patch, nn.Linear(3 * patch * patch, width)
        self.blocks = nn.Sequential(*(_Attention(width, heads) for _ in range(depth)))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, 102)

    def forward(self, image: Tensor) -> Tensor:
        """One score per class; the image's patches are laid out as rows."""
        batch, channels, height, width = image.shape
        side = self.patch
        cut = image.view(batch, channels, height // side, side, width // side, side).permute(0, 2, 4, 1, 3, 5)
        tokens = self.embed(cut.reshape(batch, -1, channels * side * side))
        scores: Tensor = self.out(self.norm(self.blocks(tokens)).mean(1))
        return scores


class _Inverted(nn.Module):
    def __init__(self, width: int, stride: int, after: int) -> None:
        super().__init__()
        wide = 4 * width
        self.net = nn.Sequential(
            nn.Conv2d(width, wide, 1),
            nn.GroupNorm(8, wide),
            nn.GELU(),
            nn.Conv2d(wide, wide, 5, stride, 2, groups=wide),
            nn.GroupNorm(8, wide),
            nn.GELU(),
            nn.Conv2d(wide, after, 1),
            nn.Dropout(0.1),
        )
        self.is_residual = stride == 1 and width == after

    def forward(self, maps: Tensor) -> Tensor:
        found: Tensor = self.net(maps)
        return found + maps if self.is_residual else found


class MobileNetwork(nn.Module):
    """Inverted residuals with 5 by 5 depthwise convolutions, group norms and dropout, for images of 96 by 96."""

    def __init__(self) -> None:
        super().__init__()
        plan = ((32, 1, 32), (32, 2, 64), (64, 1, 64), (64, 2, 128), (128, 1, 128), (128, 1, 128))
        self.first = nn.Conv2d(3, 32, 7, 2, 3)
        self.blocks = nn.Sequential(*(_Inverted(*each) for each in plan))
        self.middle = nn.Conv2d(128, 256, 3, padding=1)
        self.hidden, self.out = nn.Linear(256, 512), nn.Linear(512, 50)

    def forward(self, image: Tensor) -> Tensor:
        """Fifty scores for each image."""
        maps = functional.gelu(self.middle(self.blocks(self.first(image))))
        scores: Tensor = self.out(functional.gelu(self.hidden(maps.mean((2, 3)))))
        return scores


Shape = tuple[int, ...]
NETWORKS: dict[str, tuple[type[nn.Module], Shape]] = {
    "digits-cnn": (DigitsNetwork, (1, 28, 28)),
    "mobile": (MobileNetwork, (3, 96, 96)),
    "vgg16-head": (FrozenVGG, (3, 224, 224)),
    "vit-s16": (SmallViT, (3, 224, 224)),
    "wrn-16-4": (WideResNet, (3, 32, 32)),
}
"""Each network with the shape of one input."""


def without_values(name: str) -> nn.Module:
    """A network on the meta device: parameters with shapes but no values."""
    with torch.device("meta"):
        return NETWORKS[name][0]()
