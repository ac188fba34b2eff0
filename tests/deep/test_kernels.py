"""The GPU kernels against plain products, in Triton's interpreter where there is no GPU."""

import os

import pytest
import torch
from torch import Tensor
from torch.nn import functional

if not torch.cuda.is_available():
    os.environ["TRITON_INTERPRET"] = "1"  # read when Triton is imported
pytest.importorskip("triton", reason="Triton is not installed: it comes with torch for CUDA")

from bruit.deep.gpu_kernels import images, positions
from bruit.deep.per_sample.factored_gradients import triangle_bounds

PLACE = "cuda" if torch.cuda.is_available() else "cpu"


def gap(found: Tensor, wanted: Tensor) -> float:
    return ((found - wanted).norm() / wanted.norm()).item()


@pytest.mark.parametrize("shape", [(50, 24, 40), (16, 8, 100), (140, 33, 17), (196, 20, 12), (110, 9, 16)])
def test_products_between_positions_measure_the_gradient(shape: tuple[int, int, int]) -> None:
    torch.manual_seed(1)
    times, wide, out = shape
    inputs, outputs = torch.randn(3, times, wide, device=PLACE), torch.randn(3, times, out, device=PLACE)
    squares, *reaches = positions.gram(inputs, outputs).unbind(1)
    assert gap(squares, (outputs.mT @ inputs).square().sum((1, 2))) < 1e-5
    assert gap(torch.stack(reaches), torch.stack(triangle_bounds(inputs.norm(dim=2), outputs.norm(dim=2)))) < 1e-5


@pytest.mark.parametrize("asked", [(3, 1, 1, 5, 20, 9), (3, 2, 1, 18, 7, 8), (1, 2, 0, 5, 20, 8), (1, 1, 0, 70, 20, 5)])
def test_square_convolutions_are_measured_and_added_up(asked: tuple[int, ...]) -> None:
    torch.manual_seed(1)
    side, stride, padding, before, after, size = asked
    image, kernel = (
        torch.randn(3, before, size, size, device=PLACE),
        torch.randn(after, before, side, side, device=PLACE),
    )
    outputs = torch.randn_like(functional.conv2d(image, kernel, stride=stride, padding=padding))
    each = torch.stack([_gradient(image[b : b + 1], outputs[b : b + 1], kernel, stride, padding) for b in range(3)])
    shape, squares = (side, stride, padding), each.flatten(1).square().sum(1)
    found, kept = images.patch_gradients(image, outputs, *shape, True)
    weights = torch.tensor([0.5, 0.0, 2.0], device=PLACE)
    measured, *reaches = images.patch_gram(image, outputs, *shape).unbind(1)
    assert gap(measured, squares) < 1e-5
    patches = functional.unfold(image, side, stride=stride, padding=padding)
    assert (
        gap(torch.stack(reaches), torch.stack(triangle_bounds(patches.norm(dim=1), outputs.flatten(2).norm(dim=1))))
        < 1e-5
    )
    assert gap(found, squares) < 1e-5
    assert gap(kept.permute(0, 1, 4, 2, 3), each) < 1e-5
    assert gap(images.patch_sums(image, outputs, weights, *shape), torch.tensordot(weights, each, 1)) < 1e-5


def _gradient(image: Tensor, outputs: Tensor, kernel: Tensor, stride: int, padding: int) -> Tensor:
    given = ([stride] * 2, [padding] * 2, [1, 1], False, [0, 0], 1, [False, True, False])
    return torch.ops.aten.convolution_backward(outputs, image, kernel, None, *given)[1]
