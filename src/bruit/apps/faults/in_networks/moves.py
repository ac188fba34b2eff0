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

from bruit.apps.faults.in_networks import mixers
from bruit.apps.faults.in_networks.mixers import Guesser, Mixer, Peeker
from bruit.core.losses import Pure
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep import Engine, Training, cross_entropy, examine, privatise
from bruit.deep.searching import Trial
from bruit.errors import NotPrivate
from bruit.ledger import Ledger
from bruit.ledger.best_of_runs import RunPrice

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


def _engine(model: Mixer, between: mixers.Between, *, checked: bool) -> Engine:
    """What clips the gradients of a model with something between its layers; unchecked it is put there unseen."""
    if checked:
        model.between = between
        return _clipping(_training(model, INPUTS))
    structure = examine(model, (INPUTS,))
    model.between = between
    return Engine(model, structure, cross_entropy, CLIP)


def _training(model: nn.Module, inputs: Tensor) -> Training:
    book = Ledger("samples apart", epsilon=9, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    price = book.budget(epsilon=3, delta=1e-4)
    steps = torch.optim.SGD([each for each in model.parameters() if each.requires_grad], lr=0.1)
    return privatise(model, steps, (inputs, LABELS), budget=price, epochs=1, batch_size=SIZE // 2, clip=CLIP)


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
        found = engine.clipped_sum((inputs,), LABELS, torch.ones(SIZE))
    return torch.cat([each.flatten() for each in found.values()])


def _pair() -> tuple[Tensor, Tensor]:
    """The records, and the same with one exchanged for a far larger one."""
    other = INPUTS.clone()
    other[0] = 1e9
    return INPUTS, other


def _next_step_moves(make: Callable[[], mixers.Between], *, checked: bool) -> bool:
    """Whether a record of one step moves the sum of the next, in which it is not."""
    found = []
    for inputs in _pair():
        torch.manual_seed(3)
        engine = _engine(Mixer(), make(), checked=checked)
        _clipped(engine, inputs)
        found.append(_clipped(engine, INPUTS))
    return not torch.equal(*found)


def _hook_moves(*, checked: bool) -> bool:
    """Whether a record moves a step too far once a hook was set that mixes the samples."""
    model = Mixer()
    engine = _engine(model, lambda _, hidden: hidden.tanh(), checked=checked)
    model.front.register_forward_hook(lambda _layer, _given, output: output - output.mean(0))
    return _farthest_move(engine) > FARTHEST


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
    "a mixing hook after the proof": _hook_moves,
    "sums in a frozen weight": _released_moves,
    "scores with running draws": lambda *, checked: _score_moves(Guesser(), checked=checked),
    "scores that see all records": lambda *, checked: _score_moves(Peeker(), checked=checked),
}
