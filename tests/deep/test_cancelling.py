"""Records whose positions nearly cancel: their norm is lost in rounding, and they must not add more than the bound."""

import pytest
import torch
from torch import Tensor, nn

from bruit.deep.losses import cross_entropy
from bruit.deep.per_sample.clipping import Clipping
from bruit.deep.per_sample.factored_gradients import Products, triangle_bounds
from bruit.deep.per_sample.rules.embedding import embedding
from bruit.deep.per_sample.rules.square_convolution import Images
from bruit.deep.training.dataset import Records
from bruit.deep.training.preparation import Settings, prepare_engine

WIDTH = 64


class OverPositions(nn.Module):
    """A layer at each of two positions, whose outputs are added."""

    def __init__(self, first: nn.Module, hidden: int, *, last: bool) -> None:
        super().__init__()
        self.first, self.second, self.last = first, nn.Linear(hidden, 5), last

    def forward(self, values: Tensor) -> Tensor:
        return self.second(self.first(values if self.last else values.mT).sum(1 if self.last else 2))


def largest_contribution(model: OverPositions, clipping: Clipping, precision: torch.dtype | None) -> float:
    """What one record adds at most, over the bound, in a search over sizes of what cancels and of what is left."""
    hidden = torch.linalg.svd(model.first.weight.detach().flatten(1), full_matrices=True)[2][-1][:WIDTH]
    engine, largest = None, 0.0
    for size in (1e2, 1e4, 1e5, 1e6, 1e7):
        for left in (1e-4, 1e-3, 1e-2, 1e-1):
            direction = nn.functional.normalize(torch.randn(WIDTH), dim=0)
            record = torch.stack([size * direction, -size * direction + left * size * hidden])[None]
            label = model(record).argmin(1)
            engine = engine or prepare_engine(
                model, Records((record, label)), cross_entropy, Settings(1.0, clipping, precision=precision)
            )
            found = engine.clipped_sum((record,), label, torch.ones(1))
            largest = max(largest, float(sum(each.double().square().sum() for each in found.values())) ** 0.5)
    return largest


@pytest.mark.parametrize("precision", [None, torch.bfloat16])
@pytest.mark.parametrize("clipping", list(Clipping))
@pytest.mark.parametrize("kind", ["linear", "conv1d"])
def test_positions_that_cancel_add_no_more_than_the_bound(
    kind: str, clipping: Clipping, precision: torch.dtype | None
) -> None:
    torch.manual_seed(3)
    first, hidden = (nn.Linear(WIDTH, 48), 48) if kind == "linear" else (nn.Conv1d(WIDTH, 63, 1), 63)
    assert largest_contribution(OverPositions(first, hidden, last=kind == "linear"), clipping, precision) <= 1


def test_what_cancels_in_float32_is_seen() -> None:
    inputs = torch.full((1, 2, WIDTH), 1e6)
    inputs[0, 1] = -1e6
    inputs[0, 1, 0] += 1
    outputs = torch.ones(1, 2, WIDTH)
    share = Products(inputs, outputs)
    added = share.weighted(share.squares().rsqrt()).norm()
    assert share.per_sample().norm() > 0
    assert added <= 1


def test_tokens_that_cancel_in_one_row_are_seen() -> None:
    layer = nn.Embedding(10, WIDTH)
    outputs = torch.full((1, 2, WIDTH), 1e6)
    outputs[0, 1] = -1e6 + 1e-1
    share = embedding(layer, torch.tensor([[4, 4]]), outputs)["weight"]
    assert share.weighted(share.squares().rsqrt()).norm() <= 1


def test_squares_too_small_to_be_numbers_are_counted() -> None:
    inputs, outputs = torch.full((1, 1, 4), 5e18), torch.full((1, 1, 4096), 2e-23)
    share = Products(inputs, outputs)
    assert share.weighted(share.squares().rsqrt()).norm() <= 1


def test_reaches_of_patches_are_those_of_laid_out_patches() -> None:
    torch.manual_seed(1)
    layer = nn.Conv2d(3, 7, 3, 2, 1)
    image = torch.randn(2, 3, 9, 8)
    outputs = torch.randn_like(layer(image))
    patches = nn.functional.unfold(image, 3, stride=2, padding=1)
    wanted = triangle_bounds(patches.norm(dim=1), outputs.flatten(2).norm(dim=1))
    torch.testing.assert_close(Images(layer, image, outputs).reaches(), wanted)
