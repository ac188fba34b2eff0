"""Models and losses that mix samples are refused; those that only look as if they did are not."""

from collections.abc import Callable

import pytest
import torch
from deep.models import MODELS, each_loss, made
from torch import Tensor, nn
from torch.nn import functional

from bruit.deep import cross_entropy, examine
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.dataset import Records
from bruit.deep.training.preparation import Settings, prepare_engine
from bruit.errors import NotPrivate

FLOATS, WORDS, LABELS = torch.zeros(8, 4), torch.zeros(8, 6, dtype=torch.int64), torch.zeros(8, dtype=torch.int64)


class Then(nn.Module):
    """A function of the whole batch, and a linear layer."""

    def __init__(self, of: Callable[[Tensor], Tensor], *, width: int = 4) -> None:
        super().__init__()
        self.of, self.out = of, nn.Linear(width, 2)

    def forward(self, values: Tensor) -> Tensor:
        return self.out(self.of(values))


class Words(Then):
    """The same over looked-up words."""

    def __init__(self, of: Callable[[Tensor], Tensor]) -> None:
        super().__init__(of)
        self.table = nn.Embedding(10, 4)

    def forward(self, values: Tensor) -> Tensor:
        return self.out(self.of(self.table(values).mean(1)))


def detached(values: Tensor) -> Tensor:
    with torch.no_grad():
        mean, deviation = values.mean(0), values.std(0)
    return (values - mean) / (deviation + 1e-3)


def centred(values: Tensor) -> Tensor:
    return values - values.mean(0)


def ranked(values: Tensor) -> Tensor:
    return values.argsort(0).to(values.dtype)


torch.manual_seed(4)
MIXING_MODELS = {
    "detached statistics": (Then(detached), FLOATS),
    "words centred over the batch": (Words(centred), WORDS),
    "bytes centred over the batch": (Then(lambda x: centred(x.float())), FLOATS.to(torch.uint8)),
    "ranks in the batch": (Then(ranked), FLOATS),
    "sums of the samples before": (Then(lambda x: x.detach().cumsum(0)), FLOATS),
    "the sample after": (Then(lambda x: x.detach().roll(-1, 0)), FLOATS),
}


@pytest.mark.parametrize("case", MIXING_MODELS)
def test_a_model_that_mixes_samples_without_a_gradient_is_refused(case: str) -> None:
    model, inputs = MIXING_MODELS[case]
    with pytest.raises(NotPrivate, match="the output of one sample moves with the other samples"):
        examine(model, (inputs,))


def in_batch(outputs: Tensor, _targets: Tensor) -> Tensor:
    seen = functional.normalize(outputs)
    return functional.cross_entropy(seen @ seen.T, torch.arange(len(seen)), reduction="none")


def less_the_mean(outputs: Tensor, targets: Tensor) -> Tensor:
    losses = cross_entropy(outputs, targets)
    return losses - losses.mean()


def averaged_by_hand(outputs: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(outputs, targets) / len(targets)


def weighed_by_class(outputs: Tensor, targets: Tensor) -> Tensor:
    return cross_entropy(outputs, targets) / (targets == targets.unsqueeze(1)).sum(1)


@pytest.mark.parametrize("loss", [in_batch, less_the_mean, averaged_by_hand, weighed_by_class])
def test_a_loss_that_mixes_samples_is_refused(loss: Loss) -> None:
    with pytest.raises(NotPrivate, match="the loss of one sample moves with the other samples"):
        prepare_engine(Then(torch.tanh), Records((FLOATS, LABELS)), loss, Settings(1.0))


def test_a_model_that_divides_by_the_size_of_the_batch_is_refused() -> None:
    torch.manual_seed(5)
    with pytest.raises(NotPrivate, match="with the other samples of its batch, or with their number"):
        prepare_engine(Then(lambda x: x / len(x)), Records((FLOATS, LABELS)), cross_entropy, Settings(1e-3))


def test_mixing_behind_a_head_of_zeros_shows_in_the_gradient() -> None:
    model = Words(centred)
    for parameter in model.out.parameters():
        nn.init.zeros_(parameter)
    with pytest.raises(NotPrivate, match="the gradient of one sample moves with the other samples"):
        prepare_engine(model, Records((WORDS, LABELS)), cross_entropy, Settings(1.0))


class DropsByHand(nn.Module):
    """Dropout by a function and inside a recurrent layer."""

    def __init__(self) -> None:
        super().__init__()
        self.cells, self.out = nn.GRU(4, 4, num_layers=3, dropout=0.5, batch_first=True), nn.Linear(4, 2)

    def forward(self, values: Tensor) -> Tensor:
        found, _last = self.cells(functional.dropout(values, 0.5, training=self.training))
        return self.out(found[:, -1])


class TellsStates(DropsByHand):
    """Gives its states too, whose first dimension is that of the layers."""

    def forward(self, values: Tensor) -> tuple[Tensor, Tensor]:  # type: ignore[override]
        found, last = self.cells(values)
        return self.out(found[:, -1]), last


class OwnDraws(nn.Module):
    """Noise from a generator of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.out, self.draws = nn.Linear(4, 2), torch.Generator()

    def forward(self, values: Tensor) -> Tensor:
        return self.out(values + torch.randn(values.shape, generator=self.draws))


def encoder() -> nn.Module:
    layer = nn.TransformerEncoderLayer(4, 2, dim_feedforward=8, dropout=0.3, batch_first=True)
    return nn.Sequential(nn.TransformerEncoder(layer, 2, enable_nested_tensor=False), nn.Flatten(), nn.Linear(12, 2))


TIMES = torch.zeros(8, 3, 4)
SEPARATE = {
    "dropout": (nn.Sequential(nn.Linear(4, 8), nn.Dropout(), nn.Linear(8, 2)), FLOATS),
    "dropout by hand": (DropsByHand(), TIMES),
    "draws of its own": (OwnDraws(), FLOATS),
    "attention over positions": (encoder(), TIMES),
    "softmax": (nn.Sequential(nn.Softmax(1), nn.Linear(4, 2)), FLOATS),
    "padding alone": (Words(torch.tanh), WORDS),
    "not a number": (Then(lambda x: (x - 1).log()), FLOATS),
}


SLOW_IN_HALVES = ("dropout by hand", "attention over positions")
"""Computed one by one, which in bfloat16 takes ten seconds on a CPU: outside the gate."""


@pytest.mark.parametrize(
    ("case", "precision"),
    [(case, None) for case in SEPARATE]
    + [
        pytest.param(case, torch.bfloat16, marks=[pytest.mark.stress] if case in SLOW_IN_HALVES else [])
        for case in SEPARATE
    ],
)
def test_what_only_looks_as_if_it_mixed_is_taken(case: str, precision: torch.dtype | None) -> None:
    model, inputs = SEPARATE[case]
    for training in (True, False):
        settings = Settings(1.0, precision=precision)
        prepare_engine(model.train(training), Records((inputs, LABELS)), cross_entropy, settings)
        assert all(layer.training == training for layer in model.modules())


@pytest.mark.parametrize("seed", [0, 1, 9, 20])
def test_states_with_layers_first_are_not_taken_for_samples(seed: int) -> None:
    """With the first weights of some seeds the dropout between layers moved the loss too little to be told."""
    torch.manual_seed(seed)

    def loss(outputs: tuple[Tensor, Tensor], targets: Tensor) -> Tensor:
        return cross_entropy(outputs[0], targets)

    prepare_engine(TellsStates(), Records((TIMES, LABELS)), loss, Settings(1.0))


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")  # circular borders are not proved
@pytest.mark.parametrize("case", MODELS)
def test_every_model_of_the_tests_keeps_its_samples_apart(case: str) -> None:
    model, inputs, labels = made(case, dtype=torch.float32)
    prepare_engine(model, Records((inputs, labels)), each_loss, Settings(1.0))
