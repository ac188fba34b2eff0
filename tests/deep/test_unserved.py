"""What no rule serves: computed all the same, with autograd's gradients, or refused by name before the charge."""

from collections.abc import Callable

import pytest
import torch
from deep.books import halves, ledger
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence

from bruit.deep import Engine, cross_entropy, privatise
from bruit.deep.training.dataset import Records
from bruit.deep.training.preparation import Settings, prepare_engine
from bruit.errors import InvalidArgument

INPUTS, LABELS = halves(12)


def add_adapter(layer: nn.Module, given: tuple[Tensor, ...], output: Tensor) -> Tensor:
    """A hook that adds a product of two narrow matrices, which hang on the layer."""
    found: Tensor = output + given[0] @ layer.down.T @ layer.up.T
    return found


def with_adapter(*, frozen: bool) -> nn.Module:
    """A network with an adapter that changes nothing at first, since its second matrix is zero."""
    torch.manual_seed(2)
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    front = model[0].requires_grad_(not frozen)
    front.down, front.up = nn.Parameter(torch.randn(2, 4)), nn.Parameter(torch.zeros(5, 2))  # type: ignore[assignment]
    front.register_forward_hook(add_adapter)
    return model


def prepared(model: nn.Module) -> Engine:
    return prepare_engine(model, Records((INPUTS, LABELS)), cross_entropy, Settings(1e6))


def require_sums_of_autograd(engine: Engine) -> None:
    """Nothing is clipped at so large a bound."""
    sums = engine.clipped_sum((INPUTS,), LABELS, torch.ones(len(LABELS)))
    named = {name: each for name, each in engine.model.named_parameters() if each.requires_grad}
    whole = torch.autograd.grad(cross_entropy(engine.model(INPUTS), LABELS).sum(), list(named.values()))
    assert set(sums) == set(named)
    for name, each in zip(named, whole, strict=True):
        torch.testing.assert_close(sums[name], each, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("frozen", [True, False])
def test_matrices_that_hang_on_a_layer_have_the_gradients_of_autograd(*, frozen: bool) -> None:
    model = with_adapter(frozen=frozen)
    engine = prepared(model)
    with torch.no_grad():
        model[0].up += 0.5  # type: ignore[operator]  # at zero the other matrix has no gradient yet
    require_sums_of_autograd(engine)


class Between(nn.Module):
    """Two linear layers, with something between them that may use a third."""

    def __init__(self, between: Callable[[nn.Module, Tensor], Tensor]) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.front, self.middle, self.out = nn.Linear(4, 4), nn.Linear(4, 4), nn.Linear(4, 2)
        self.cells, self.between = nn.LSTM(2, 4, batch_first=True), between

    def forward(self, values: Tensor) -> Tensor:
        scores: Tensor = self.out(self.between(self, self.front(values).tanh()))
        return scores


def chosen_alone(model: nn.Module, hidden: Tensor) -> Tensor:
    found, chosen = torch.zeros_like(hidden), hidden[:, 0] > 0
    found[chosen] = model.middle(hidden[chosen])
    return found + model.cells(hidden.view(-1, 2, 2))[0][:, -1]


def within_vmap(model: nn.Module, hidden: Tensor) -> Tensor:
    return torch.func.vmap(model.middle)(hidden) + model.cells(hidden.view(-1, 2, 2))[0][:, -1]


def packed(model: nn.Module, hidden: Tensor) -> Tensor:
    rows = pack_padded_sequence(hidden.view(-1, 2, 2), torch.full((len(hidden),), 2), batch_first=True)
    found: Tensor = model.cells(rows)[1][0][0] + model.middle(hidden)
    return found


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
@pytest.mark.parametrize("between", [chosen_alone, within_vmap, packed])
def test_layers_whose_calls_cannot_be_recorded_are_computed(between: Callable[[nn.Module, Tensor], Tensor]) -> None:
    require_sums_of_autograd(prepared(Between(between)))


class Slope(nn.Module):
    """Scores and how they change with what came in, as networks for differential equations give."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(2)
        self.front, self.out = nn.Linear(4, 6), nn.Linear(6, 2)

    def forward(self, values: Tensor) -> Tensor:
        values = values.detach().clone()
        values.requires_grad = True
        scores: Tensor = self.out(self.front(values).tanh())
        (slope,) = torch.autograd.grad(scores.sum(), values, create_graph=True)
        return scores + slope[:, :2]


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
def test_a_model_that_differentiates_its_own_scores_is_trained() -> None:
    require_sums_of_autograd(prepared(Slope()))


class WritesIntoInputs(Between):
    def forward(self, values: Tensor) -> Tensor:
        return super().forward(values.mul_(2))


def test_a_model_that_writes_into_its_inputs_is_told_to_copy_them() -> None:
    with pytest.raises(InvalidArgument, match="begin with a copy"):
        prepared(WritesIntoInputs(packed))


@pytest.mark.parametrize("kind", ["gradient", "after it is added"])
def test_a_hook_on_the_gradient_of_a_parameter_is_refused_by_name(kind: str) -> None:
    model = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 2))
    if kind == "gradient":
        model[2].weight.register_hook(lambda gradient: 3 * gradient)  # type: ignore[union-attr, operator]
    else:
        model[2].weight.register_post_accumulate_grad_hook(lambda _: None)  # type: ignore[union-attr, operator]
    book = ledger()
    with pytest.raises(InvalidArgument, match=r"'2\.weight' has a hook"):
        privatise(
            model,
            torch.optim.SGD(model.parameters(), lr=0.1),
            halves(),
            budget=book.budget(epsilon=2.0, delta=1e-5),
            epochs=1,
            batch_size=64,
            clip=1.0,
        )
    assert not book.entries


class Turns(nn.Module):
    """Multiplies by complex numbers, of which noise drawn for real ones would cover the real part alone."""

    def __init__(self) -> None:
        super().__init__()
        self.front, self.turn, self.out = nn.Linear(4, 4), nn.Parameter(torch.ones(4) + 0j), nn.Linear(4, 2)

    def forward(self, values: Tensor) -> Tensor:
        scores: Tensor = self.out((self.front(values) * self.turn).real)
        return scores


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
def test_a_complex_parameter_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="complex"):
        prepared(Turns())
    model = Turns()
    model.turn.requires_grad_(False)
    prepared(model)
