"""How far one record moves a DP-SGD step, what comes after it, or a score: with the checks of `bruit.deep` or without.

Without them a batch is computed together, as in a plain step, and each gradient is clipped all the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import torch
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from bruit.apps.faults.in_networks import mixers
from bruit.apps.faults.in_networks.mixers import Guesser, Mixer, Peeker
from bruit.core.losses import Pure
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep import Engine, Training, cross_entropy, examine, privatise
from bruit.deep.searching import Trial
from bruit.errors import NotPrivate
from bruit.ledger import Ledger
from bruit.ledger.best_of_runs import RunPrice

Loss = Callable[..., Tensor]

SIZE, CLIP = 40, 1.0
EXCHANGED = 5
"""How many records are exchanged, one after the other, for a longer and for a far larger one."""

FARTHEST = 2.001 * CLIP
"""How far one exchanged record may move a clipped sum, with a little room for rounding."""

INPUTS = 1 + torch.randn(SIZE, 4, generator=torch.Generator().manual_seed(1))
LABELS = torch.zeros(SIZE, dtype=torch.int64)
"""Records of one class, whose gradients point to one side: what moves all of them is then seen in their sum."""


def moves_more_than_itself(name: str, *, checked: bool) -> bool:
    """Whether one record moves more than its own clipped gradient or its own score; not where a check refuses."""
    with torch.random.fork_rng([]), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # samples that are computed one by one are announced
        torch.manual_seed(3)
        try:
            shown = _SHOWN.get(name)
            return _step_moves(name, checked=checked) if shown is None else shown(checked=checked)
        except NotPrivate:
            return False


def _step_moves(name: str, *, checked: bool) -> bool:
    model = Mixer()
    engine = _engine(model, mixers.IN_A_STEP[name], checked=checked)
    return _farthest_move(engine) > FARTHEST


def _engine(model: Mixer, between: mixers.Between, *, checked: bool, loss: Loss = cross_entropy) -> Engine:
    """What clips the gradients of a model with something between its layers; unchecked it is put there unseen."""
    if checked:
        model.between = between
        return _clipping(_training(model, INPUTS, loss))
    structure = examine(model, (INPUTS,))
    model.between = between
    return Engine(model, structure, loss, CLIP)


def _training(model: nn.Module, inputs: Tensor, loss: Loss = cross_entropy) -> Training:
    book = Ledger("samples apart", epsilon=9, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    price = book.budget(epsilon=3, delta=1e-4)
    steps = torch.optim.SGD([each for each in model.parameters() if each.requires_grad], lr=0.1)
    data, batch = (inputs, LABELS), SIZE // 2
    return privatise(model, steps, data, budget=price, epochs=1, batch_size=batch, clip=CLIP, loss=loss)


def _clipping(training: Training) -> Engine:
    assert isinstance(training.engine, Engine)
    return training.engine


def _farthest_move(engine: Engine) -> float:
    before, moves = _clipped(engine, INPUTS), []
    for place in range(EXCHANGED):
        for size in (30.0, 1e9):
            other = INPUTS.clone()
            other[place] = size * torch.randn(4)
            moves.append(float((_clipped(engine, other) - before).norm()))
    return max(moves)


def _clipped(engine: Engine, inputs: Tensor) -> Tensor:
    with torch.random.fork_rng([]):
        torch.manual_seed(0)
        found = engine.clipped_sum((inputs,), LABELS[: len(inputs)], torch.ones(len(inputs)))
    return torch.cat([found[name].flatten() for name in sorted(found)])  # batches may differ in the order of layers


def _pair() -> tuple[Tensor, Tensor]:
    """The records, and the same with one exchanged for a far larger one."""
    other = INPUTS.clone()
    other[0] = 1e9
    return INPUTS, other


def _next_step_moves(
    make: Callable[[], mixers.Between], *, checked: bool, loss: Callable[[], Loss] = lambda: cross_entropy
) -> bool:
    """Whether a record of one step moves the sum of the next, in which it is not."""
    found = []
    for inputs in _pair():
        torch.manual_seed(3)
        engine = _engine(Mixer(), make(), checked=checked, loss=loss())
        _clipped(engine, inputs)
        found.append(_clipped(engine, INPUTS))
    return not torch.equal(*found)


def _hook_moves(*, checked: bool) -> bool:
    """Whether a record moves a step too far once a hook was set that mixes the samples."""
    model = Mixer()
    engine = _engine(model, lambda _, hidden: hidden.tanh(), checked=checked)
    model.front.register_forward_hook(lambda _layer, _given, output: output - output.mean(0))
    return _farthest_move(engine) > FARTHEST


def _turn_moves(*, checked: bool) -> bool:
    """Whether a record moves a step too far in a turn that the model takes after it was proved."""
    turns = [False]
    engine = _engine(Mixer(), lambda _, hidden: hidden - hidden.mean(0) if turns[0] else hidden, checked=checked)
    turns[0] = True
    return _farthest_move(engine) > FARTHEST


def _number_moves(*, checked: bool) -> bool:
    """Whether a record that is left out moves the sum by more than its own gradient."""
    engine = _engine(Mixer(), mixers.by_parity, checked=checked)
    return float((_clipped(engine, INPUTS) - _clipped(engine, INPUTS[1:])).norm()) > FARTHEST / 2


def _rule_moves(*, checked: bool) -> bool:
    """Whether a record moves a step too far by what a model tells vmap to do with a batch."""
    engine = _engine(Mixer(), mixers.centre_under_vmap, checked=checked)
    if checked:
        return _farthest_move(engine) > FARTHEST
    other = INPUTS.clone()
    other[0] *= 30
    return float((_clipped_under_vmap(engine, INPUTS) - _clipped_under_vmap(engine, other)).norm()) > FARTHEST


def _clipped_under_vmap(engine: Engine, inputs: Tensor) -> Tensor:
    """The sum of clipped gradients as vmap gives them, with whatever rules it is told."""
    weights = {name: each.detach() for name, each in engine.model.named_parameters() if each.requires_grad}

    def loss(weights: dict[str, Tensor], record: Tensor, label: Tensor) -> Tensor:
        scores = functional_call(engine.model, weights, (record.unsqueeze(0),))
        return engine.loss(scores, label.unsqueeze(0)).sum()

    found = vmap(grad(loss), in_dims=(None, 0, 0))(weights, inputs, LABELS)
    rows = torch.cat([each.flatten(1) for each in found.values()], 1)
    shares = (CLIP / torch.linalg.vector_norm(rows, dim=1, keepdim=True)).clamp(max=1)
    total: Tensor = (rows * shares).sum(0)
    return total


def _released_moves(*, checked: bool) -> bool:
    """Whether the weight that nothing trains is another one after a step on other records."""
    found = []
    for inputs in _pair():
        torch.manual_seed(3)
        model = Mixer()

        def between(_: Tensor, hidden: Tensor, seen: nn.Parameter = model.seen) -> Tensor:
            seen.data.add_(hidden.detach().tanh().sum(0))
            return hidden.tanh()

        if checked:
            model.between = between
            training = _training(model, inputs)
            for batch in training:
                training.step(batch)
        else:
            _clipped(_engine(model, between, checked=False), inputs)
        found.append(model.seen.detach().clone())
    return not torch.equal(*found)


def _score_moves(model: nn.Module, *, checked: bool) -> bool:
    """Whether one record moves the number of records that are right by more than one."""
    count = _count_checked if checked else _count_in_turn
    one, other = (count(model, inputs) for inputs in _pair())
    return abs(one - other) > 1


def _count_in_turn(model: nn.Module, inputs: Tensor) -> float:
    before = np.random.get_state()  # noqa: NPY002
    np.random.seed(5)  # noqa: NPY002
    right = sum(
        int(model(record).argmax()) == int(truth) for record, truth in zip(inputs.split(1), LABELS, strict=True)
    )
    np.random.set_state(before)  # noqa: NPY002
    return float(right)


def _count_checked(model: nn.Module, inputs: Tensor) -> float:
    """The score of a search; its noise, which comes from one seed, is the same for both neighbours."""
    book = Ledger("scores", epsilon=1, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    price = RunPrice(Pure(1, neighbours=ADD_OR_REMOVE_ONE), book.book.terms, 1, Fraction(1, 2), covers_a_part=False)
    trial = Trial(price, classes=2, parts=2, size=SIZE, seed=None)
    return trial.score(model, inputs, LABELS, np.random.default_rng(5))


_SHOWN: dict[str, Callable[..., bool]] = {
    "a mean kept in a closure": lambda *, checked: _next_step_moves(mixers.mean_in_a_closure, checked=checked),
    "means kept in a list": lambda *, checked: _next_step_moves(mixers.means_in_a_list, checked=checked),
    "a loss that remembers": lambda *, checked: _next_step_moves(
        lambda: lambda _, hidden: hidden, checked=checked, loss=mixers.RunningLoss
    ),
    "the number of samples as a constant": _number_moves,
    "a rule for batches of its own": _rule_moves,
    "a rare turn": _turn_moves,
    "a mixing hook after the proof": _hook_moves,
    "sums in a frozen weight": _released_moves,
    "scores with running draws": lambda *, checked: _score_moves(Guesser(), checked=checked),
    "scores that see all records": lambda *, checked: _score_moves(Peeker(), checked=checked),
}
