"""The networks of the deep benchmarks, in plain torch: the same file is read beside ours, beside peers and on a GPU."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn import functional


class ThesisCNN(nn.Module):
    """The digits network of the source document (S2.15): maps of 14, 13, 5 and 4."""

    shape, classes = (1, 28, 28), 10

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Conv2d(1, 16, 8, 2, padding=3), nn.Conv2d(16, 32, 4, 2)
        self.hidden, self.out = nn.Linear(512, 32), nn.Linear(32, 10)

    def forward(self, image: Tensor) -> Tensor:
        maps = functional.max_pool2d(functional.relu(self.first(image)), 2, 1)
        maps = functional.max_pool2d(functional.relu(self.second(maps)), 2, 1)
        return self.out(functional.relu(self.hidden(maps.flatten(1))))


class FrozenVGG(nn.Module):
    """VGG16's convolutions, frozen, under a head of two dense layers (S2.16)."""

    shape, classes = (3, 112, 112), 102

    def __init__(self) -> None:
        super().__init__()
        layers: list[nn.Module] = []
        before = 3
        for width, depth in ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3)):
            for _ in range(depth):
                layers += [nn.Conv2d(before, width, 3, padding=1), nn.ReLU(inplace=True)]
                before = width
            layers.append(nn.MaxPool2d(2))
        self.features = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(7)).requires_grad_(False)
        self.hidden, self.out = nn.Linear(25_088, 512), nn.Linear(512, 102)

    def forward(self, image: Tensor) -> Tensor:
        return self.out(functional.relu(self.hidden(self.features(image).flatten(1))))


class _WideBlock(nn.Module):
    def __init__(self, before: int, width: int, stride: int) -> None:
        super().__init__()
        self.norm, self.conv = nn.GroupNorm(16, before), nn.Conv2d(before, width, 3, stride, 1)
        self.second_norm, self.second = nn.GroupNorm(16, width), nn.Conv2d(width, width, 3, 1, 1)
        self.short = nn.Conv2d(before, width, 1, stride) if before != width or stride != 1 else None

    def forward(self, maps: Tensor) -> Tensor:
        bent = functional.relu(self.norm(maps))
        found = self.second(functional.relu(self.second_norm(self.conv(bent))))
        return found + (maps if self.short is None else self.short(bent))


class WideResNet(nn.Module):
    """WRN-16-4 with group norms."""

    shape, classes = (3, 32, 32), 10

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
        return self.out(functional.relu(self.norm(self.blocks(self.first(image)))).mean((2, 3)))


class _Attention(nn.Module):
    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.norm, self.all, self.join = nn.LayerNorm(width), nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.second, self.wide, self.narrow = (
            nn.LayerNorm(width),
            nn.Linear(width, 4 * width),
            nn.Linear(4 * width, width),
        )

    def forward(self, tokens: Tensor) -> Tensor:
        batch, count, width = tokens.shape
        split = self.all(self.norm(tokens)).view(batch, count, 3, self.heads, width // self.heads)
        query, key, value = split.permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(query, key, value).transpose(1, 2).reshape(batch, count, width)
        tokens = tokens + self.join(seen)
        return tokens + self.narrow(functional.gelu(self.wide(self.second(tokens))))


class SmallViT(nn.Module):
    """ViT-S/16 without learned positions."""

    shape, classes = (3, 224, 224), 102

    def __init__(self, width: int = 384, depth: int = 12, heads: int = 6, patch: int = 16) -> None:
        super().__init__()
        self.patch, self.embed = patch, nn.Linear(3 * patch * patch, width)
        self.blocks = nn.Sequential(*(_Attention(width, heads) for _ in range(depth)))
        self.norm, self.out = nn.LayerNorm(width), nn.Linear(width, 102)

    def forward(self, image: Tensor) -> Tensor:
        batch, channels, height, width = image.shape
        side = self.patch
        cut = image.view(batch, channels, height // side, side, width // side, side).permute(0, 2, 4, 1, 3, 5)
        tokens = self.embed(cut.reshape(batch, -1, channels * side * side))
        return self.out(self.norm(self.blocks(tokens)).mean(1))


def batch_of(model: nn.Module, size: int, device: str = "cpu") -> tuple[Tensor, Tensor]:
    """Random images and labels of the shapes of a model."""
    drawn = torch.Generator().manual_seed(1)
    images = torch.randn(size, *model.shape, generator=drawn)  # type: ignore[misc]
    labels = torch.randint(model.classes, (size,), generator=drawn)  # type: ignore[arg-type]
    return images.to(device), labels.to(device)
