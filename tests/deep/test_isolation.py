"""No sample sees another: proved from the graph of a step, or computed alone; the zoo of models that mix."""

import numpy as np
import pytest
import torch
from deep.models import each_loss, made
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from bruit.core.guarantee import Assumption
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep import cross_entropy, train
from bruit.deep.checks.isolation import ComputedAlone
from bruit.deep.per_sample.ghost_clipping import Engine
from bruit.deep.training.dataset import Records
from bruit.deep.training.preparation import Settings, prepare_engine
from bruit.errors import NotPrivate
from bruit.ledger import Ledger

SIZE = 40
INPUTS, LABELS = torch.randn(SIZE, 4, generator=torch.Generator().manual_seed(1)), torch.arange(SIZE) % 2


class Mixer(nn.Module):
    """Two linear layers with something between them."""

    def __init__(self) -> None:
        super().__init__()
        self.front, self.out = nn.Linear(4, 4), nn.Linear(4, 2)

    def between(self, hidden: Tensor) -> Tensor:
        return hidden.tanh()

    def forward(self, values: Tensor) -> Tensor:
        scores: Tensor = self.out(self.between(self.front(values)))
        return scores


class NormByHand(Mixer):
    """Normalises over the batch, in training alone."""

    def between(self, hidden: Tensor) -> Tensor:
        return (hidden - hidden.mean(0)) / (hidden.std(0) + 0.1) if self.training else hidden


class GhostNorm(Mixer):
    """Normalises over the batch from sixteen samples on."""

    def between(self, hidden: Tensor) -> Tensor:
        return (hidden - hidden.mean(0)) / (hidden.std(0) + 0.1) if len(hidden) >= 16 else hidden


class Experts(Mixer):
    """Drops samples beyond the capacity of the batch, which a small batch does not reach."""

    def between(self, hidden: Tensor) -> Tensor:
        return hidden * ((hidden[:, 0] > 0).cumsum(0) <= max(8, len(hidden) // 4)).unsqueeze(1)


class Mixup(Mixer):
    """Adds a part of another sample, by NumPy's draws."""

    def between(self, hidden: Tensor) -> Tensor:
        return hidden + 0.3 * hidden[np.random.permutation(len(hidden))]  # noqa: NPY002


class Place(Mixer):
    """Adds a number that depends on the place in the batch."""

    def between(self, hidden: Tensor) -> Tensor:
        return hidden + torch.arange(len(hidden)).unsqueeze(1)


class Remembers(Mixer):
    """Keeps a running mean outside its buffers."""

    def __init__(self) -> None:
        super().__init__()
        self.mean = torch.zeros(4)

    def between(self, hidden: Tensor) -> Tensor:
        self.mean = 0.9 * self.mean + 0.1 * hidden.detach().mean(0)
        return hidden - self.mean


class Keeps(Mixer):
    """Keeps what a large record did to it, which no made-up record does: in a buffer, in place, by name, in a list."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where, self.plain, self.number, self.numbers = where, torch.zeros(4), 0.0, [0.0]
        self.register_buffer("kept", torch.zeros(4))

    def forward(self, values: Tensor) -> Tensor:
        if bool((values.abs() > 50).any()):
            self.keep(3.0)
        shift = self.kept + self.plain + self.number + self.numbers[-1]
        scores: Tensor = self.out((self.front(values) + shift).tanh())
        return scores

    def keep(self, value: float) -> None:
        if self.where == "buffer":
            self.kept.fill_(value)
        elif self.where == "in place":
            self.plain.fill_(value)
        elif self.where == "by name":
            self.number = value
        elif self.where == "in a list":
            self.numbers.append(value)
        else:
            self.front.weight.data.fill_(value)


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
@pytest.mark.parametrize("where", ["buffer", "in place", "by name", "in a list", "in a parameter"])
def test_what_a_sample_leaves_in_a_model_no_other_meets(where: str) -> None:
    torch.manual_seed(2)
    model = Keeps(where)
    engine = prepare_engine(model, Records((INPUTS, LABELS)), cross_entropy, Settings(1.0))
    wild, weights = INPUTS.clone(), torch.ones(SIZE)
    wild[0], weights[0] = 100.0, 0.0
    before = engine.clipped_sum((INPUTS,), LABELS, weights)
    after = engine.clipped_sum((wild,), LABELS, weights)
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert (model.number, model.numbers, float(model.plain.sum() + model.kept.sum())) == (0.0, [0.0], 0.0)


class LooksAway(Mixer):
    """Reads values, and goes on where a tracer has none to read."""

    def between(self, hidden: Tensor) -> Tensor:
        try:
            wild = float(hidden.detach().abs().max()) > 50
        except Exception:
            wild = False
        return hidden.tanh() * (0.0 if wild else 1.0)


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
def test_a_model_that_reads_values_is_not_proved() -> None:
    engine = prepare_engine(LooksAway(), Records((INPUTS, LABELS)), cross_entropy, Settings(1.0))
    assert engine.computes_alone((INPUTS,), LABELS)
    assert farthest_move(engine) <= 2.001


class Prints(Mixer):
    """Reads values from the text of a tensor, which under vmap would be that of the whole batch."""

    def between(self, hidden: Tensor) -> Tensor:
        return hidden.tanh() * (0.0 if "e+" in f"{hidden.detach()}" else 1.0)


class ReadsStorage(Mixer):
    """Reads the bytes that its input lies in, which of a view are those of the whole batch."""

    def forward(self, values: Tensor) -> Tensor:
        bytes_of_all = bytes(values.detach().untyped_storage())
        scores: Tensor = super().forward(values) * (0.0 if np.frombuffer(bytes_of_all, np.float32).max() > 50 else 1.0)
        return scores


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
@pytest.mark.parametrize("reader", [Prints, ReadsStorage])
def test_a_model_that_reads_text_or_storage_is_computed_in_a_loop_and_the_guarantee_says_so(
    reader: type[Mixer],
) -> None:
    engine = prepare_engine(reader(), Records((INPUTS, LABELS)), cross_entropy, Settings(1.0))
    assert engine.computes_alone((INPUTS,), LABELS)
    example = Records((INPUTS, LABELS)).example(torch.device("cpu"))
    assert not engine.is_isolated(example)
    wild, weights = INPUTS.clone(), torch.ones(SIZE)
    wild[0], weights[0] = 1e9, 0.0
    before, after = (engine.clipped_sum((each,), LABELS, weights) for each in (INPUTS, wild))
    assert all(torch.equal(before[name], after[name]) for name in before)


class KeepsSums(Mixer):
    """Adds up what it sees in a weight that is not trained, in place or anew."""

    def __init__(self, where: str) -> None:
        super().__init__()
        self.where, self.sums = where, nn.Parameter(torch.zeros(4), requires_grad=False)

    def between(self, hidden: Tensor) -> Tensor:
        seen = hidden.detach().sum(0)
        if self.where == "in place":
            self.sums.data.add_(seen)
        elif self.where == "anew":
            self.sums = nn.Parameter(self.sums.detach() + seen, requires_grad=False)
        return hidden.tanh()


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
@pytest.mark.parametrize("assumed", [False, True])
@pytest.mark.parametrize("where", ["in place", "anew"])
def test_what_a_step_writes_into_a_weight_is_not_released(where: str, *, assumed: bool) -> None:
    model = KeepsSums(where)
    book = Ledger("weights", epsilon=9, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    how = {"epochs": 1, "batch_size": 20, "clip": 1.0, "assume_separate": assumed}
    train(model, (INPUTS, LABELS), budget=book.budget(epsilon=3, delta=1e-4), **how)
    assert not model.sums.any()


def test_a_model_with_a_memory_outside_itself_is_refused() -> None:
    memory = torch.zeros(4)

    def remember(hidden: Tensor) -> Tensor:
        found = (hidden - memory).tanh()
        memory.mul_(0.5).add_(hidden.detach().mean(0))
        return found

    model = Mixer()
    model.between = remember  # type: ignore[method-assign]
    with pytest.raises(NotPrivate, match="outside the model"):
        prepare_engine(model, Records((INPUTS, LABELS)), cross_entropy, Settings(1.0))


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
@pytest.mark.parametrize("switch", ["attribute", "hook"])
def test_what_a_user_switches_on_between_two_steps_is_proved_anew(switch: str) -> None:
    class Switched(Mixer):
        mixes = False

        def between(self, hidden: Tensor) -> Tensor:
            return hidden - hidden.mean(0) if self.mixes else hidden

    torch.manual_seed(2)
    model = Switched()
    engine = prepare_engine(model, Records((INPUTS, LABELS)), cross_entropy, Settings(1.0))
    assert not engine.computes_alone((INPUTS,), LABELS)
    if switch == "attribute":
        model.mixes = True
    else:
        model.front.register_forward_hook(lambda _layer, _given, output: output - output.mean(0))
    assert engine.computes_alone((INPUTS,), LABELS)
    assert farthest_move(engine) <= 2.001


def farthest_move(engine: Engine) -> float:
    """How far one exchanged record moves the clipped sum, over several; alone a record moves it by two bounds."""

    def total(inputs: Tensor) -> Tensor:
        torch.manual_seed(0)
        return torch.cat([each.flatten() for each in engine.clipped_sum((inputs,), LABELS, torch.ones(SIZE)).values()])

    before, moves = total(INPUTS), []
    for place in range(5):
        other = INPUTS.clone()
        other[place] = 30 * torch.randn(4)
        moves.append(float((total(other) - before).norm()))
    return max(moves)


@pytest.mark.filterwarnings("ignore:std")  # of one sample
@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
@pytest.mark.parametrize("mixer", [NormByHand, GhostNorm, Experts, Mixup, Place, Remembers])
def test_a_model_that_mixes_is_refused_or_computed_alone(mixer: type[Mixer]) -> None:
    torch.manual_seed(2)
    model = mixer().eval()
    try:
        engine = prepare_engine(model, Records((INPUTS, LABELS)), cross_entropy, Settings(1.0))
    except NotPrivate:
        return
    model.train()
    assert engine.computes_alone((INPUTS,), LABELS)
    assert farthest_move(engine) <= 2.001


@pytest.mark.parametrize("mixer", [NormByHand, GhostNorm])
def test_the_same_models_move_further_where_nothing_keeps_them_apart(mixer: type[Mixer]) -> None:
    torch.manual_seed(2)
    model = mixer().eval()
    engine = prepare_engine(model, Records((INPUTS, LABELS)), cross_entropy, Settings(1.0))
    model.train()
    assert farthest_move(Engine(model, engine.structure, cross_entropy, 1.0)) > 2.1


def test_a_plain_model_is_proved_and_computed_together() -> None:
    model = Mixer()
    engine = prepare_engine(model, Records((INPUTS, LABELS)), cross_entropy, Settings(1.0))
    assert engine.isolation is not None
    assert engine.isolation.is_proved((INPUTS,), LABELS)
    assert not engine.computes_alone((INPUTS,), LABELS)


KINDS = ("linear", "attention", "conv2d, groups", "rnn", "tied and called twice", "in place")


@pytest.mark.parametrize("case", KINDS)
def test_models_of_every_kind_are_proved(case: str) -> None:
    model, inputs, labels = made(case, dtype=torch.float32)
    engine = prepare_engine(model, Records((inputs, labels)), each_loss, Settings(1.0))
    assert engine.isolation is not None
    assert engine.isolation.is_proved((inputs,), labels)


@pytest.mark.parametrize("records", [5, 1])
@pytest.mark.parametrize("case", KINDS)
def test_a_step_on_data_is_the_pass_that_was_proved(case: str, records: int, strayed: list[int]) -> None:
    model, inputs, labels = made(case, dtype=torch.float32)
    engine = prepare_engine(model, Records((inputs, labels)), each_loss, Settings(1.0))
    engine.clipped_sum((inputs,), labels, torch.ones(records))
    assert not strayed


def test_the_guarantee_says_what_rests_on_an_examination() -> None:
    model, inputs, labels = made("conv2d, circular", dtype=torch.float32)
    book = Ledger("isolation", epsilon=10, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    data = (inputs, labels)
    with pytest.warns(ComputedAlone, match="assume_separate=True"):
        alone = train(
            model, data, budget=book.budget(epsilon=3, delta=1e-4), epochs=1, batch_size=2, clip=1.0, loss=each_loss
        )
    assert Assumption.SAMPLES_APART not in alone.guarantee.assumes
    together = train(
        model,
        data,
        budget=book.budget(epsilon=3, delta=1e-4),
        epochs=1,
        batch_size=2,
        clip=1.0,
        loss=each_loss,
        assume_separate=True,
    )
    assert "samples kept apart" in str(together.guarantee)


def require_sums_of_autograd(model: nn.Module) -> None:
    engine = prepare_engine(model, Records((INPUTS, LABELS)), cross_entropy, Settings(1e6))
    sums = engine.clipped_sum((INPUTS,), LABELS, torch.ones(SIZE))
    whole = torch.autograd.grad(cross_entropy(model(INPUTS), LABELS).sum(), list(model.parameters()))
    for name, each in zip(dict(model.named_parameters()), whole, strict=True):
        torch.testing.assert_close(sums[name], each, rtol=1e-4, atol=1e-5)


def test_a_hook_of_the_user_is_part_of_the_model() -> None:
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 2))
    model[0].register_forward_hook(lambda _layer, _given, output: 2 * output)
    require_sums_of_autograd(model)


class Checkpointed(Mixer):
    """Computes its front again in the backward pass."""

    def forward(self, values: Tensor) -> Tensor:
        found = checkpoint(lambda x: self.front(x).tanh(), values, use_reentrant=False)
        scores: Tensor = self.out(found)
        return scores


@pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")
def test_recomputed_activations_give_the_gradients_of_autograd() -> None:
    require_sums_of_autograd(Checkpointed())


class LooksUpPositions(nn.Module):
    """Adds a learned vector to each position, looked up once for all samples, as BERT and GPT-2 do."""

    def __init__(self) -> None:
        super().__init__()
        self.words, self.places, self.out = nn.Embedding(9, 4), nn.Embedding(6, 4), nn.Linear(4, 2)

    def forward(self, words: Tensor) -> Tensor:
        hidden = self.words(words) + self.places(torch.arange(words.shape[1]))
        scores: Tensor = self.out(hidden.tanh().mean(1))
        return scores


def test_positions_looked_up_once_for_all_samples_are_trained() -> None:
    torch.manual_seed(6)
    model, words = LooksUpPositions(), torch.randint(9, (SIZE, 6))
    engine = prepare_engine(model, Records((words, LABELS)), cross_entropy, Settings(1e6))
    assert engine.structure.rest == ("places.weight",)
    sums = engine.clipped_sum((words,), LABELS, torch.ones(SIZE))
    (whole,) = torch.autograd.grad(cross_entropy(model(words), LABELS).sum(), [model.places.weight])
    torch.testing.assert_close(sums["places.weight"], whole, rtol=1e-4, atol=1e-5)
