"""Models that mix where a proof at two small batches cannot look: by size, by chance, from step to step, backwards."""

from collections.abc import Callable

import numpy as np
import pytest
import torch
from deep.test_isolation import INPUTS, LABELS, SIZE, Mixer, farthest_move
from torch import Tensor, nn
from torch.nn import functional

from bruit.deep import Views, cross_entropy
from bruit.deep.per_sample.failing_samples import sum_of_computable, without_views
from bruit.deep.per_sample.ghost_clipping import Engine
from bruit.deep.per_sample.vmap_fallback import Loss
from bruit.deep.training.dataset import Part, Records
from bruit.deep.training.preparation import Settings, prepare_engine
from bruit.errors import InvalidArgument, NotPrivate

ALONE = pytest.mark.filterwarnings("ignore::bruit.deep.checks.isolation.ComputedAlone")


class Of(Mixer):
    """Does a function of the whole batch between its layers."""

    def __init__(self, of: Callable[[Tensor], Tensor]) -> None:
        super().__init__()
        self.of = (of,)

    def between(self, hidden: Tensor) -> Tensor:
        return self.of[0](hidden)


def engine_of(of: Callable[[Tensor], Tensor], loss: Loss = cross_entropy) -> Engine:
    torch.manual_seed(2)
    return prepare_engine(Of(of), Records((INPUTS, LABELS)), loss, Settings(1.0))


def large(hidden: Tensor) -> bool:
    return len(hidden) >= 16


def two_in_one(hidden: Tensor) -> Tensor:
    rows = 2 if large(hidden) else 1
    return hidden.reshape(len(hidden) // rows, 4 * rows).softmax(1).reshape(len(hidden), 4)


BY_SIZE: dict[str, Callable[[Tensor], Tensor]] = {
    "rows merged": two_in_one,
    "largest along": lambda x: x + x.amax([0] if large(x) else [1], keepdim=True),
    "rolled along": lambda x: x + x.roll(1, 0 if large(x) else 1),
    "flipped along": lambda x: x + x.flip([0 if large(x) else 1]),
}


@ALONE
@pytest.mark.parametrize("case", BY_SIZE)
def test_the_same_operations_along_another_axis_in_a_large_batch_are_not_proved(case: str) -> None:
    engine = engine_of(BY_SIZE[case])
    assert engine.computes_alone((INPUTS,), LABELS)
    assert farthest_move(engine) <= 2.001


BY_NUMBER: dict[str, Callable[[Tensor], Tensor]] = {
    "a tensor": lambda x: x * torch.tensor(max(8.0, float(len(x)))),
    "an array": lambda x: x * torch.from_numpy(np.array(max(8, len(x)), dtype=np.float32)),
    "a sum of ones": lambda x: x * torch.ones(max(8, len(x))).sum(),
    "a little of each": lambda x: x * (1 + torch.ones(len(x)).sum() * 1e-4),
    "a second axis": lambda x: x + 1e-4 * x.unsqueeze(1).expand(-1, len(x), -1).sum(1),
}


@ALONE
@pytest.mark.parametrize("case", BY_NUMBER)
def test_the_number_of_samples_does_not_enter_as_a_value(case: str) -> None:
    assert engine_of(BY_NUMBER[case]).computes_alone((INPUTS,), LABELS)


@ALONE
def test_a_step_that_does_something_else_than_what_was_proved_is_computed_alone() -> None:
    steps = [0]

    def later(hidden: Tensor) -> Tensor:
        steps[0] += 1
        return hidden - hidden.mean(0) if steps[0] > 1000 else hidden

    engine = engine_of(later)
    assert not engine.computes_alone((INPUTS,), LABELS)
    steps[0] = 1000  # no proof came so far
    engine.clipped_sum((INPUTS,), LABELS, torch.ones(len(LABELS)))
    assert farthest_move(engine) <= 2.001


@ALONE
def test_a_rare_turn_of_chance_is_computed_alone() -> None:
    draws = [False]
    engine = engine_of(lambda x: x - x.mean(0) if draws[0] else x)
    draws[0] = True
    assert farthest_move(engine) <= 2.001


class Switched(nn.Module):
    """A model that takes the mean of its batch away from some step on; no attribute of it tells."""

    def __init__(self, front: nn.Module, steps: list[int]) -> None:
        super().__init__()
        self.front, self.out, self.steps = front, nn.Linear(4, 2), (steps,)

    def forward(self, values: Tensor) -> Tensor:
        hidden = self.front(values).flatten(2).mean(2)
        found: Tensor = self.out(hidden - hidden.mean(0) if self.steps[0] else hidden)
        return found


FRONTS: dict[str, tuple[Callable[[], nn.Module], Tensor]] = {
    "words": (lambda: nn.Sequential(nn.Embedding(7, 4), nn.Linear(4, 4)), torch.arange(SIZE * 4).view(SIZE, 4) % 7),
    "images": (lambda: nn.Conv2d(2, 4, 3), torch.ones(SIZE, 2, 5, 5)),
}


@pytest.mark.parametrize("case", FRONTS)
def test_layers_that_are_given_hooks_of_ours_are_watched_too(case: str, strayed: list[int]) -> None:
    made, inputs = FRONTS[case]
    steps: list[int] = []
    engine = prepare_engine(Switched(made(), steps), Records((inputs, LABELS)), cross_entropy, Settings(1.0))
    engine.clipped_sum((inputs,), LABELS, torch.ones(SIZE))
    assert not strayed
    steps.append(1)
    engine.clipped_sum((inputs,), LABELS, torch.ones(SIZE))
    assert strayed == [SIZE]


class _Reads(torch.autograd.Function):
    @staticmethod
    def forward(ctx: object, hidden: Tensor) -> Tensor:
        return hidden.tanh()

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        try:
            wild = float(gradients[0].abs().max()) > 50
        except Exception:  # where a tracer has no values
            wild = False
        return gradients[0] * 0 if wild else gradients[0]


class _Own(torch.autograd.Function):
    """Does nothing, but tells vmap that it takes the mean of the batch off."""

    @staticmethod
    def forward(hidden: Tensor) -> Tensor:
        return hidden.clone()

    @staticmethod
    def setup_context(ctx: object, inputs: object, output: object) -> None:
        pass

    @staticmethod
    def backward(ctx: object, *gradients: Tensor) -> Tensor:
        return gradients[0]

    @staticmethod
    def vmap(info: object, in_dims: object, hidden: Tensor) -> tuple[Tensor, int]:
        return 5 * (hidden - hidden.mean(0)), 0


class _Within(torch.autograd.Function):
    """Calls the one above under the rule that torch makes of it."""

    generate_vmap_rule = True
    setup_context, backward = _Own.setup_context, _Own.backward

    @staticmethod
    def forward(hidden: Tensor) -> Tensor:
        found: Tensor = _Own.apply(hidden)  # type: ignore[no-untyped-call]
        return found


@torch.library.custom_op("bruit_tests::own", mutates_args=())
def own_operation(hidden: Tensor) -> Tensor:
    return hidden.clone()


@own_operation.register_vmap
def _own_rule(info: object, in_dims: object, hidden: Tensor) -> tuple[Tensor, int]:
    return 5 * (hidden - hidden.mean(0)), 0


def in_a_hook(hidden: Tensor) -> Tensor:
    found = hidden * 1.0
    if found.requires_grad:
        found.register_hook(_Own.apply)
    return found


def text_in_a_hook(hidden: Tensor) -> Tensor:
    found = hidden * 1.0
    if found.requires_grad:
        found.register_hook(lambda gradient: gradient * (0.0 if "e-" in str(gradient) else 1.0))
    return found


BY_A_RULE: dict[str, Callable[[Tensor], Tensor]] = {
    "of a function": _Own.apply,
    "of a function in another": _Within.apply,
    "of an operation": lambda x: x * own_operation(x.detach()).abs(),
    "of an overloaded operation": lambda x: x * torch.ops.bruit_tests.own(x.detach()).abs(),
    "of a function in a hook": in_a_hook,
    "of text in a hook": text_in_a_hook,
}


@ALONE
@pytest.mark.parametrize("case", BY_A_RULE)
def test_a_rule_for_batches_of_a_users_own_is_not_asked_and_the_guarantee_rests_on_a_loop(case: str) -> None:
    engine = engine_of(lambda x: torch.fft.fft(BY_A_RULE[case](x)).real)  # which no proof follows, and vmap takes
    example = Records((INPUTS, LABELS)).example(torch.device("cpu"))
    assert engine.computes_alone((INPUTS,), LABELS)
    assert not engine.is_isolated(example)
    assert farthest_move(engine) <= 2.001


@ALONE
def test_values_that_are_read_in_the_backward_pass_are_noticed() -> None:
    assert engine_of(_Reads.apply).computes_alone((INPUTS,), LABELS)


@ALONE
@pytest.mark.parametrize("known", [False, True])
def test_a_loop_comes_only_where_the_guarantee_was_fixed_with_its_assumption(*, known: bool) -> None:
    reads = [known]
    engine = engine_of(lambda x: x.tanh() * (0.0 if reads[0] and "e+" in f"{x.detach()}" else 1.0))
    reads[0] = True  # seen at the first step after the charge
    part = Part((INPUTS,), LABELS, torch.ones(len(LABELS)))
    found = sum_of_computable(engine, part, without_views)
    assert engine.loops == known
    assert any(bool(each.any()) for each in found.values()) == known


class Box:
    """An object of a user's own, which no step puts back."""

    def __init__(self) -> None:
        self.kept, self.many = torch.zeros(()), [torch.zeros(())]


BOX = Box()


def rebound(hidden: Tensor) -> Tensor:
    found = hidden.tanh() * (1 + BOX.kept)
    new = functional.relu(hidden.detach().abs().max() - 50)
    if type(new) is Tensor:  # a tracer's own kind of tensor is not kept
        BOX.kept = new
    return found


def listed(hidden: Tensor) -> Tensor:
    found = hidden.tanh() * (1 + BOX.many[-1])
    BOX.many.append(functional.relu(hidden.detach().abs().max() - 50))
    return found


@pytest.mark.parametrize("keeps", [rebound, listed])
def test_what_a_model_keeps_outside_itself_is_found_even_where_made_up_samples_leave_nothing(
    keeps: Callable[[Tensor], Tensor],
) -> None:
    BOX.__init__()  # type: ignore[misc]
    with pytest.raises(NotPrivate, match="outside the model"):
        engine_of(keeps)


class RunningLoss(nn.Module):
    """Divides by what the largest loss of the batch before was above ten."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("largest", torch.zeros(()))

    def forward(self, outputs: Tensor, targets: Tensor) -> Tensor:
        losses = cross_entropy(outputs, targets)
        found: Tensor = losses / (1 + self.largest)
        self.largest.copy_(functional.relu(losses.detach().max() - 10))
        return found


def test_a_loss_that_remembers_is_refused() -> None:
    with pytest.raises(NotPrivate, match="the loss keeps a tensor"):
        engine_of(torch.tanh, RunningLoss())


def test_a_view_that_reads_its_record_as_text_would_see_all_of_them_and_is_refused() -> None:
    part = Part((INPUTS,), LABELS, torch.ones(len(LABELS)))
    with pytest.raises(InvalidArgument, match="reads values of its record"):
        Views(2, lambda record: record * (0.0 if "e+" in f"{record}" else 1.0)).of(part)


def test_a_view_with_a_rule_for_batches_of_its_own_is_refused() -> None:
    part = Part((INPUTS,), LABELS, torch.ones(len(LABELS)))
    with pytest.raises(InvalidArgument, match="rule of its own"):
        Views(2, _Own.apply).of(part)


SEPARATE: dict[str, Callable[[Tensor], Tensor]] = {
    "rows under vmap": torch.func.vmap(lambda row: row - row.mean()),
    "enlarged": lambda x: functional.interpolate(x.view(-1, 1, 2, 2), scale_factor=2.0).mean((1, 3)),
    "positions first": lambda x: x.view(-1, 2, 2).transpose(0, 1).contiguous().transpose(0, 1).reshape(-1, 4),
    "a table of numbers": lambda x: x * torch.tensor([1.0, 2.0, 3.0, 4.0]),
    "noise": lambda x: x + torch.rand(()) + torch.rand(len(x), 1),
}


@pytest.mark.parametrize("case", SEPARATE)
def test_what_keeps_samples_apart_at_every_size_is_still_computed_together(case: str, strayed: list[int]) -> None:
    engine = engine_of(SEPARATE[case])
    assert not engine.computes_alone((INPUTS,), LABELS)
    engine.clipped_sum((INPUTS,), LABELS, torch.ones(len(LABELS)))
    assert not strayed
