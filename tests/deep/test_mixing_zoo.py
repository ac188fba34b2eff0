"""More ways in which a model may let samples see each other: each is refused, or computed alone and right."""

import pytest
import torch
from deep.test_isolation import INPUTS, LABELS, Mixer, farthest_move
from torch import Tensor, nn

from bruit.deep import cross_entropy
from bruit.deep.per_sample.clipping import Clipping
from bruit.deep.training.dataset import Records
from bruit.deep.training.preparation import Settings, prepare_engine
from bruit.errors import NotPrivate


class Sorted(Mixer):
    """Gives each sample the value of the one that has its rank."""

    def between(self, hidden: Tensor) -> Tensor:
        return hidden.sort(0).values


class RunningSum(Mixer):
    def between(self, hidden: Tensor) -> Tensor:
        return hidden.cumsum(0) / 10


class Attends(Mixer):
    """Attention among the samples, by einsum."""

    def between(self, hidden: Tensor) -> Tensor:
        return torch.einsum("bc,dc,de->be", hidden, hidden, hidden) / len(hidden)


class _Centred(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, hidden: Tensor) -> Tensor:
        return hidden.tanh()

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        return gradients[0] - gradients[0].mean(0)


class MixesBackwards(Mixer):
    """Mixes in its backward pass alone."""

    def between(self, hidden: Tensor) -> Tensor:
        centred: Tensor = _Centred.apply(hidden)  # type: ignore[no-untyped-call]
        return centred


class Overwrites(Mixer):
    """Puts the first sample into the place of the last."""

    def between(self, hidden: Tensor) -> Tensor:
        return hidden.clone().index_put_((torch.tensor([-1]),), hidden[:1])


class Rolls(Mixer):
    def between(self, hidden: Tensor) -> Tensor:
        return hidden + 0.5 * hidden.roll(1, 0)


class Reshapes(Mixer):
    """Lets a row take the second half of the row before it."""

    def between(self, hidden: Tensor) -> Tensor:
        return hidden.flatten().roll(2).view(len(hidden), 4)


class ByNumber(Mixer):
    """Multiplies by the number of samples, from more than eight on."""

    def between(self, hidden: Tensor) -> Tensor:
        return hidden * (len(hidden) / 8 if len(hidden) > 8 else 1.0)


class LargestOnly(Mixer):
    """Keeps the samples with the largest norms."""

    def between(self, hidden: Tensor) -> Tensor:
        norms = hidden.norm(dim=1)
        return hidden * (norms >= norms.topk(max(1, len(hidden) // 2)).values[-1]).unsqueeze(1)


class OneScale(Mixer):
    """Rounds to eight bits by the largest number of the batch."""

    def between(self, hidden: Tensor) -> Tensor:
        scale = hidden.detach().abs().max() / 127
        return hidden + ((hidden / scale).round() * scale - hidden).detach()


class Convolves(Mixer):
    """A convolution along the batch."""

    def between(self, hidden: Tensor) -> Tensor:
        return nn.functional.conv1d(hidden.T.unsqueeze(1), torch.ones(1, 1, 3) / 3, padding=1).squeeze(1).T


class Draws(Mixer):
    """Noise whose size is that of the other samples."""

    def between(self, hidden: Tensor) -> Tensor:
        return hidden + torch.randn_like(hidden) * hidden.std(0)


SEEN: list[Tensor] = []


class Outside(Mixer):
    """Keeps a mean in a list outside itself."""

    def between(self, hidden: Tensor) -> Tensor:
        SEEN.append(hidden.detach().mean(0))
        return hidden + sum(SEEN[-2:-1])


class Padded(Mixer):
    """Scatters samples into a table by the hash of their contents: equal slots add up."""

    def between(self, hidden: Tensor) -> Tensor:
        slots = (hidden.sum(1) > 0).long()
        return torch.zeros(2, 4).index_add(0, slots, hidden)[slots]


ZOO = [
    Sorted, RunningSum, Attends, MixesBackwards, Overwrites, Rolls, Reshapes, ByNumber, LargestOnly, OneScale,
    Convolves, Draws, Outside, Padded,
]  # fmt: skip


@pytest.mark.parametrize("mixer", ZOO)
@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
def test_a_mixer_is_refused_or_a_record_moves_the_sum_by_at_most_the_bound(mixer: type[Mixer]) -> None:
    torch.manual_seed(3)
    try:
        engine = prepare_engine(mixer(), Records((INPUTS, LABELS)), cross_entropy, Settings(1.0, Clipping.FLAT))
    except NotPrivate:
        return
    assert farthest_move(engine) <= 2.001
