"""Small models, one for each rule and each way to be left to the fallback."""

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional


class Tied(nn.Module):
    """A table that is used to look up and, transposed, to score; and a layer that is called twice."""

    def __init__(self) -> None:
        super().__init__()
        self.table, self.score = nn.Embedding(7, 4), nn.Linear(4, 7, bias=False)
        self.score.weight = self.table.weight
        self.twice = nn.Linear(4, 4)

    def forward(self, words: Tensor) -> Tensor:
        return self.score(self.twice(torch.tanh(self.twice(self.table(words)))).mean(1))


class Adapted(nn.Module):
    """A frozen layer at every position, with a trained product of two narrow ones beside it."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(6, 8).requires_grad_(False)
        self.down, self.up, self.out = nn.Linear(6, 2, bias=False), nn.Linear(2, 8, bias=False), nn.Linear(8, 3)

    def forward(self, values: Tensor) -> Tensor:
        return self.out(functional.gelu(self.layer(values) + self.up(self.down(values))).mean(1))


class Beside(nn.Module):
    """A frozen linear layer, with a trained product of two narrow ones beside it."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.layer = nn.Linear(inputs, outputs).requires_grad_(False)
        self.down, self.up = nn.Linear(inputs, 2, bias=False), nn.Linear(2, outputs, bias=False)

    def forward(self, values: Tensor) -> Tensor:
        found: Tensor = self.layer(values) + self.up(self.down(values))
        return found


class AdaptedBlocks(nn.Module):
    """The wide and the narrow layers of a transformer's blocks, with low-rank adapters."""

    def __init__(self, width: int = 16, depth: int = 4) -> None:
        super().__init__()
        self.wide = nn.ModuleList(Beside(width, 4 * width) for _ in range(depth))
        self.narrow = nn.ModuleList(Beside(4 * width, width) for _ in range(depth))
        self.out = nn.Linear(width, 3)

    def forward(self, values: Tensor) -> Tensor:
        for wide, narrow in zip(self.wide, self.narrow, strict=True):
            values = values + narrow(functional.gelu(wide(values)))
        return self.out(values.mean(1))


class Bare(nn.Module):
    """A parameter that belongs to no layer, a layer without a rule, and one whose weight is used from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.shift = nn.Parameter(torch.randn(5))
        self.bend, self.front, self.borrowed, self.out = nn.PReLU(5), nn.Linear(5, 5), nn.Linear(5, 5), nn.Linear(5, 3)

    def forward(self, values: Tensor) -> Tensor:
        hidden = self.bend(self.front(values) + self.shift)
        return self.out(torch.tanh(functional.linear(hidden, self.borrowed.weight) + self.borrowed(values)))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.all, self.out = nn.LayerNorm(6), nn.Linear(6, 18), nn.Linear(6, 3)

    def forward(self, values: Tensor) -> Tensor:
        query, key, value = self.all(self.norm(values)).chunk(3, -1)
        return self.out(functional.scaled_dot_product_attention(query, key, value).mean(1))


class InPlace(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Conv2d(2, 3, 3), nn.ReLU(inplace=True), nn.GroupNorm(3, 3), nn.ReLU(inplace=True))
        self.out = nn.Linear(3, 3)

    def forward(self, image: Tensor) -> Tensor:
        return self.out(self.net(image).mean((2, 3)))


class Recurrent(nn.Module):
    """A recurrent layer whose outputs and last states are both used."""

    def __init__(self, kind: type[nn.Module], **settings: Any) -> None:
        super().__init__()
        self.front, self.cells = nn.Linear(3, 3), kind(3, 4, batch_first=True, **settings)
        ways = 2 if settings.get("bidirectional") else 1
        self.out = nn.Linear(4 * ways, 3)

    def forward(self, values: Tensor) -> Tensor:
        found, last = self.cells(self.front(values))
        last = last if isinstance(last, Tensor) else torch.cat(last)
        return self.out(found.square().mean(1)) + last.transpose(0, 1).flatten(1)[:, :3]


class Projected(nn.Module):
    """A recurrent layer that has no rule and that vmap cannot take either."""

    def __init__(self) -> None:
        super().__init__()
        self.cells, self.out = nn.LSTM(3, 4, batch_first=True, proj_size=2), nn.Linear(2, 3)

    def forward(self, values: Tensor) -> Tensor:
        return self.out(self.cells(values)[0][:, -1])


class Started(nn.Module):
    """An LSTM that starts from given states."""

    def __init__(self) -> None:
        super().__init__()
        self.cells, self.first, self.out = nn.LSTM(3, 4, batch_first=True), nn.Linear(3, 4), nn.Linear(4, 3)

    def forward(self, values: Tensor) -> Tensor:
        start = self.first(values[:, 0]).unsqueeze(0)
        return self.out(self.cells(values, (start, start.tanh()))[0][:, -1])


class Scaled(nn.Module):
    """A parameter that is a single number."""

    def __init__(self) -> None:
        super().__init__()
        self.scale, self.out = nn.Parameter(torch.tensor(0.7)), nn.Linear(4, 3)

    def forward(self, values: Tensor) -> Tensor:
        return self.out(torch.tanh(self.scale * values))


def pooled(*layers: nn.Module) -> nn.Module:
    return nn.Sequential(*layers, nn.Flatten(), nn.LazyLinear(3))


def words() -> Tensor:
    return torch.randint(7, (5, 6))


MODELS: dict[str, tuple[Callable[[], nn.Module], Callable[[], Tensor]]] = {
    "linear": (lambda: nn.Sequential(nn.Linear(4, 6), nn.Tanh(), nn.Linear(6, 3)), lambda: torch.randn(5, 4)),
    "linear, no bias": (lambda: nn.Linear(4, 3, bias=False), lambda: torch.randn(5, 4)),
    "linear, gram": (lambda: pooled(nn.Linear(20, 30), nn.Tanh()), lambda: torch.randn(5, 3, 20)),
    "linear, instantiated": (lambda: pooled(nn.Linear(2, 3), nn.Tanh()), lambda: torch.randn(5, 3, 4, 2)),
    "conv2d": (lambda: pooled(nn.Conv2d(2, 4, 3, padding=1, stride=2), nn.Tanh()), lambda: torch.randn(5, 2, 7, 6)),
    "conv2d, gram": (lambda: pooled(nn.Conv2d(8, 12, 3), nn.Tanh()), lambda: torch.randn(5, 8, 4, 4)),
    "conv2d, groups": (
        lambda: pooled(nn.Conv2d(4, 6, (3, 2), groups=2, dilation=(1, 2), padding=(2, 1)), nn.Tanh()),
        lambda: torch.randn(5, 4, 6, 5),
    ),
    "conv2d, groups, gram": (
        lambda: pooled(nn.Conv2d(16, 32, 3, groups=2, stride=2, bias=False), nn.Tanh()),
        lambda: torch.randn(5, 16, 5, 6),
    ),
    "conv2d, depthwise": (lambda: pooled(nn.Conv2d(4, 4, 3, groups=4), nn.Tanh()), lambda: torch.randn(5, 4, 5, 5)),
    "conv2d, same": (lambda: pooled(nn.Conv2d(2, 3, 4, padding="same"), nn.Tanh()), lambda: torch.randn(5, 2, 5, 5)),
    "conv2d, circular": (
        lambda: pooled(nn.Conv2d(2, 3, 3, padding=1, padding_mode="circular"), nn.Tanh()),
        lambda: torch.randn(5, 2, 5, 5),
    ),
    "conv1d": (
        lambda: pooled(nn.Conv1d(3, 4, 3, stride=2, padding=1, dilation=2), nn.Tanh()),
        lambda: torch.randn(5, 3, 9),
    ),
    "conv1d, gram": (
        lambda: pooled(nn.Conv1d(12, 14, 3, stride=2, groups=1), nn.Tanh()),
        lambda: torch.randn(5, 12, 7),
    ),
    "conv3d": (
        lambda: pooled(nn.Conv3d(2, 3, (2, 3, 2), padding=(1, 0, 1), stride=(1, 2, 1)), nn.Tanh()),
        lambda: torch.randn(5, 2, 3, 5, 4),
    ),
    "conv3d, gram": (
        lambda: pooled(nn.Conv3d(8, 32, 3, padding="same"), nn.Tanh()),
        lambda: torch.randn(5, 8, 2, 2, 2),
    ),
    "rnn": (lambda: Recurrent(nn.RNN, nonlinearity="relu", bias=False), lambda: torch.randn(5, 4, 3)),
    "lstm": (lambda: Recurrent(nn.LSTM, num_layers=2, bidirectional=True), lambda: torch.randn(5, 2, 3)),
    "lstm, started": (Started, lambda: torch.randn(5, 4, 3)),
    "lstm, projected": (Projected, lambda: torch.randn(5, 4, 3)),
    "gru": (lambda: Recurrent(nn.GRU, num_layers=2), lambda: torch.randn(5, 4, 3)),
    "embedding": (lambda: pooled(nn.Embedding(7, 4, padding_idx=2), nn.Tanh()), words),
    "layer norm": (lambda: pooled(nn.LayerNorm([4, 3]), nn.Tanh()), lambda: torch.randn(5, 2, 4, 3)),
    "group norm": (lambda: pooled(nn.GroupNorm(2, 4), nn.Tanh()), lambda: torch.randn(5, 4, 3, 3)),
    "group norm, plain": (
        lambda: pooled(nn.Linear(4, 4), nn.GroupNorm(2, 4, affine=False), nn.Tanh()),
        lambda: torch.randn(5, 4),
    ),
    "attention": (Attention, lambda: torch.randn(5, 4, 6)),
    "tied and called twice": (Tied, words),
    "bare, unknown, borrowed": (Bare, lambda: torch.randn(5, 5)),
    "single number": (Scaled, lambda: torch.randn(5, 4)),
    "in place": (InPlace, lambda: torch.randn(5, 2, 5, 5)),
    "transposed convolution": (lambda: pooled(nn.ConvTranspose2d(2, 3, 3), nn.Tanh()), lambda: torch.randn(5, 2, 3, 3)),
    "frozen front": (
        lambda: nn.Sequential(nn.Linear(4, 6).requires_grad_(False), nn.Tanh(), nn.Linear(6, 3)),
        lambda: torch.randn(5, 4),
    ),
    "low-rank adapters": (Adapted, lambda: torch.randn(5, 4, 6)),
    "frozen bias in front": (
        lambda: nn.Sequential(_without_bias_training(nn.Linear(4, 6)), nn.Tanh(), nn.Linear(6, 3)),
        lambda: torch.randn(5, 4),
    ),
}


def _without_bias_training(layer: nn.Linear) -> nn.Linear:
    layer.bias.requires_grad_(False)
    return layer


def made(case: str, *, dtype: torch.dtype = torch.float64) -> tuple[nn.Module, Tensor, Tensor]:
    """A model, a batch of five inputs and their labels."""
    torch.manual_seed(3)
    build, draw = MODELS[case]
    model, inputs = build(), draw()
    model(inputs)
    model = model.to(dtype)
    return model, inputs.to(dtype) if inputs.is_floating_point() else inputs, torch.randint(3, (5,))


def each_loss(outputs: Tensor, targets: Tensor) -> Tensor:
    return functional.cross_entropy(outputs, targets, reduction="none")
