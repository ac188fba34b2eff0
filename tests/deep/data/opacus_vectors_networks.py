"""The networks of the vectors that Opacus made."""

from torch import nn

NETWORKS = {
    "images": lambda: nn.Sequential(
        nn.Conv2d(1, 4, 3, stride=2), nn.GroupNorm(2, 4), nn.Tanh(), nn.Flatten(), nn.Linear(16, 3)
    ),
    "words": lambda: nn.Sequential(nn.Embedding(5, 3), nn.LayerNorm(3), nn.Flatten(), nn.Linear(12, 3)),
    "signals": lambda: nn.Sequential(
        nn.Conv1d(2, 3, 3, padding=1), nn.Tanh(), nn.Linear(5, 4), nn.Flatten(), nn.Linear(12, 3)
    ),
}
