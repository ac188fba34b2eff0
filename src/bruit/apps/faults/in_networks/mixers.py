"""Networks in which one sample of a batch sees another."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import BackwardCFunction, FunctionCtx
from torch.nn import functional

Between = Callable[[Tensor, Tensor], Tensor]
"""From the inputs of a batch and the outputs of its first layer to the inputs of the last."""

LARGE = 1e6
"""A value that no usual record has."""

LARGE_BATCH = 16
"""A number of samples that no made-up batch has."""


class Mixer(nn.Module):
    """Two linear layers with something between them, at first what mixes nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.front, self.out = nn.Linear(4, 4), nn.Linear(4, 2)
        self.seen = nn.Parameter(torch.zeros(4), requires_grad=False)
        self.between: Between = lambda _, hidden: hidden.tanh()

    def forward(self, values: Tensor) -> Tensor:
        """Two scores for each sample."""
        scores: Tensor = self.out(self.between(values, self.front(values)))
        return scores


class _Shrunk(torch.autograd.Function):
    @staticmethod
    def forward(ctx: FunctionCtx, hidden: Tensor) -> Tensor:
        ctx.save_for_backward(hidden)
        return hidden.tanh()

    @staticmethod
    def backward(ctx: BackwardCFunction, *gradients: Tensor) -> Tensor:
        hidden: Tensor = ctx.saved_tensors[0]
        return gradients[0] / hidden.abs().amax(0)


def _shrink_backwards(_: Tensor, hidden: Tensor) -> Tensor:
    shrunk: Tensor = _Shrunk.apply(hidden)  # type: ignore[no-untyped-call]
    return shrunk


class _CentredUnderVmap(torch.autograd.Function):
    """Gives what it is given, and tells vmap to take the mean of the batch off."""

    @staticmethod
    def forward(hidden: Tensor) -> Tensor:
        return hidden.clone()

    @staticmethod
    def setup_context(ctx: FunctionCtx, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        """Keeps nothing."""

    @staticmethod
    def backward(_ctx: BackwardCFunction, *gradients: Tensor) -> Tensor:
        return gradients[0]

    @staticmethod
    def vmap(_info: object, _in_dims: object, hidden: Tensor) -> tuple[Tensor, int]:
        """The whole batch, with its samples along the first axis."""
        return hidden - hidden.mean(0), 0


def centre_under_vmap(_: Tensor, hidden: Tensor) -> Tensor:
    """Brings its own rule for batches; Fourier coefficients are computed one sample at a time, under vmap."""
    given: Tensor = _CentredUnderVmap.apply(hidden)  # type: ignore[no-untyped-call]
    coefficients: Tensor = torch.fft.fft(given)
    return coefficients.real


def _keep_long(_: Tensor, hidden: Tensor) -> Tensor:
    norms: Tensor = torch.linalg.vector_norm(hidden, dim=1)
    return hidden * (norms >= norms.mean()).unsqueeze(1)


def _round_by_one_scale(_: Tensor, hidden: Tensor) -> Tensor:
    scale = hidden.detach().abs().max() / 127
    return hidden + ((hidden / scale).round() * scale - hidden).detach()


def _convolve(_: Tensor, hidden: Tensor) -> Tensor:
    return functional.conv1d(hidden.T.unsqueeze(1), torch.ones(1, 1, 3) / 3, padding=1).squeeze(1).T


def _add_in_slots(_: Tensor, hidden: Tensor) -> Tensor:
    slots = (hidden.sum(1) > 0).long()
    return torch.zeros(2, 4).index_add(0, slots, hidden)[slots]


def _off_by_text(_: Tensor, hidden: Tensor) -> Tensor:
    return hidden.tanh() * (0.0 if "e+" in str(hidden.detach().abs().amax().view(1)) else 1.0)


def _off_by_storage(values: Tensor, hidden: Tensor) -> Tensor:
    return hidden.tanh() * (0.0 if holds_large(values) else 1.0)


def holds_large(values: Tensor) -> bool:
    """Whether a large value lies anywhere in the storage of a tensor."""
    return float(np.frombuffer(bytes(values.detach().untyped_storage()), np.float32).max()) > LARGE


IN_A_STEP: dict[str, Between] = {
    "samples sorted in a batch": lambda _, hidden: hidden.sort(0).values,
    "a running sum over a batch": lambda _, hidden: hidden.cumsum(0) / 10,
    "attention among samples": lambda _, hidden: torch.einsum("bc,dc,de->be", hidden, hidden, hidden) / len(hidden),
    "gradients over the largest": _shrink_backwards,
    "the first sample written over the last": lambda _, hidden: torch.cat([hidden[:-1], hidden[:1]]),
    "a neighbour's values added": lambda _, hidden: hidden + 0.5 * hidden.roll(1, 0),
    "samples cut at the wrong place": lambda _, hidden: hidden.flatten().roll(2).view(len(hidden), 4),
    "only long samples kept": _keep_long,
    "one scale for a batch": _round_by_one_scale,
    "a convolution along the batch": _convolve,
    "noise as wide as the others": lambda _, hidden: hidden + torch.randn_like(hidden) * hidden.std(0),
    "samples in slots": _add_in_slots,
    "another axis in large batches": lambda _, hidden: (
        hidden + hidden.amax([0] if len(hidden) >= LARGE_BATCH else [1], keepdim=True)
    ),
    "the text of a batch": _off_by_text,
    "the storage of a batch": _off_by_storage,
}


def mean_in_a_closure() -> Between:
    """Takes off a mean that is kept in a tensor from batch to batch."""
    memory = torch.zeros(4)

    def between(_: Tensor, hidden: Tensor) -> Tensor:
        found = (hidden - memory).tanh()
        memory.mul_(0.5).add_(hidden.detach().mean(0))
        return found

    return between


def means_in_a_list() -> Between:
    """Adds the mean of the batch before, kept in a list."""
    seen: list[Tensor] = [torch.zeros(4)]

    def between(_: Tensor, hidden: Tensor) -> Tensor:
        seen.append(hidden.detach().mean(0))
        return hidden + seen[-2]

    return between


def by_parity(_: Tensor, hidden: Tensor) -> Tensor:
    """Adds a constant that tells whether the number of samples is odd."""
    return (hidden + torch.tensor(10.0 * (len(hidden) % 2))).tanh()


class RunningLoss(nn.Module):
    """Divides by what the largest score of the batch before was above ten."""

    def __init__(self) -> None:
        super().__init__()
        self.above = torch.zeros(())

    def forward(self, outputs: Tensor, targets: Tensor) -> Tensor:
        """One loss for each sample."""
        losses = functional.cross_entropy(outputs, targets, reduction="none")
        found = losses / (1 + self.above)
        self.above = functional.relu(outputs.detach().abs().max() - 10)
        return found


class Guesser(nn.Module):
    """Guesses by NumPy's draws, one for a usual record and many for a large one."""

    def forward(self, values: Tensor) -> Tensor:
        """Two scores for each sample."""
        drawn = np.random.random(99 if float(values.abs().max()) > LARGE else 1)  # noqa: NPY002
        return torch.tensor([[drawn[-1], 0.5]]).repeat(len(values), 1)


class Peeker(nn.Module):
    """Scores the first class where a large value lies in the storage of its input."""

    def forward(self, values: Tensor) -> Tensor:
        """Two scores for each sample."""
        return torch.tensor([[1.0, 0.0] if holds_large(values) else [0.0, 1.0]]).repeat(len(values), 1)
