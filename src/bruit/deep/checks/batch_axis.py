"""Infers which axis of each value in a traced graph indexes the samples, and whether the samples stay separate.

An abstract interpretation of ATen graphs. Each value is one of five: `FIXED`, computed from no sample; `EVEN`, one and
the same number everywhere; `DRAWN`, independent equal draws; an `Axis`, whose slices along one axis each come from one
sample alone; or `MIXED`, about which nothing can be said. Where a fixed number differs along the axis of the samples it
depends on a sample's place among the others, and mixes; equal numbers and equal draws do not. An operation without
a rule makes what it reads `MIXED`, so that the answer errs on one side.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from math import prod
from typing import Any

from torch import Tensor, fx


class Kind(Enum):
    """The state of a value without a sample axis: fixed, one number everywhere, independent draws, or mixed samples."""

    FIXED = "computed from no sample"
    EVEN = "one number everywhere"
    DRAWN = "independent draws of one law"
    MIXED = "samples may meet in it"


FIXED, EVEN, DRAWN, MIXED = Kind.FIXED, Kind.EVEN, Kind.DRAWN, Kind.MIXED


@dataclass(frozen=True)
class Axis:
    """The position of the sample axis; in a merged axis the index is (outer · batch + sample) · inner + rest."""

    place: int
    inner: int = 1
    outer: int = 1


State = Kind | Axis
Shape = tuple[int, ...]

ALIKE = (EVEN, DRAWN)
"""What is the same for each sample, whatever axis the samples have."""


@dataclass(frozen=True)
class Step:
    """One operation of a traced graph: its node, the batch size, and the states inferred for earlier values."""

    node: fx.Node
    batch: int
    known: Callable[[Any], State]

    def state(self, place: int) -> State:
        """The state of one argument; numbers and absent arguments are `FIXED`."""
        return self.known(self.argument(place))

    def argument(self, place: int | str, default: Any = None) -> Any:
        """An argument by its position or schema name, whether passed positionally, by keyword or by default."""
        known = self.node.target._schema.arguments  # type: ignore[union-attr]
        names = [each.name for each in known]
        if isinstance(place, str):
            if place not in names:
                return default
            place = names.index(place)
        if place < len(self.node.args):
            return self.node.args[place]
        if place >= len(names):
            return default
        if names[place] in self.node.kwargs:
            return self.node.kwargs[names[place]]
        return known[place].default_value if known[place].has_default_value() else default

    def shape(self, place: int = 0) -> Shape:
        """The shape of one argument."""
        return shape_of(self.argument(place))

    def read(self) -> list[State]:
        """The states of all tensors that the operation reads."""
        return [self.known(each) for each in self.node.all_input_nodes]


Rule = Callable[[Step], Any]
"""The state of the result, or a tuple of states where there are several results."""


def shape_of(value: Any) -> Shape:
    """The shape of the tensor that a node stands for; empty for a number."""
    held = value.meta.get("val") if isinstance(value, fx.Node) else value
    return tuple(held.shape) if isinstance(held, Tensor) else ()


def reshape(step: Step) -> State:
    """The sample axis after a reshape, or `MIXED` where it is split."""
    state, old, new = step.state(0), step.shape(0), shape_of(step.node)
    if not isinstance(state, Axis):
        return state
    stride = state.inner * prod(old[state.place + 1 :])
    span = stride * step.batch
    for place, size in enumerate(new):
        below = prod(new[place + 1 :])
        if size >= step.batch and stride % below == 0 and (below * size) % span == 0:
            return Axis(place, stride // below, below * size // span)
    return MIXED


def elementwise(step: Step) -> State:
    """The sample axis of a broadcast elementwise operation, or `MIXED` where the operands' sample axes differ."""
    operands = [(step.known(each), shape_of(each)) for each in step.node.all_input_nodes]
    return merge(operands, len(_first_shape(step.node)), step.batch)


def merge(operands: Sequence[tuple[State, Shape]], rank: int, batch: int) -> State:
    """The common sample axis of operands broadcast from their last axes, or `MIXED` where there is none."""
    states = [state for state, _ in operands]
    if MIXED in states:
        return MIXED
    axes = {
        Axis(state.place + rank - len(shape), state.inner, state.outer)
        for state, shape in operands
        if isinstance(state, Axis)
    }
    if not axes:
        return _without_samples(states)
    if len(axes) > 1 or min(axis.place for axis in axes) < 0:
        return MIXED
    (axis,) = axes
    for state, shape in operands:
        place = axis.place - (rank - len(shape))
        along = shape[place] if place >= 0 else 1
        if state is FIXED and along != 1:  # a number that depends on the place in the batch
            return MIXED
        if isinstance(state, Axis) and along != batch * axis.inner * axis.outer:
            return MIXED
    return axis


def _without_samples(states: Sequence[State]) -> State:
    """The state when no operand has a sample axis: `EVEN`, `DRAWN` with one random operand, else `FIXED`."""
    if states and all(state in ALIKE for state in states) and states.count(DRAWN) <= 1:
        return DRAWN if DRAWN in states else EVEN
    return FIXED


def over(places: Callable[[Step], Sequence[int]]) -> Rule:
    """A rule for operations along given axes: `MIXED` if the sample axis is among these, else the sample axis stays."""

    def rule(step: Step) -> Any:
        state, rank = step.state(0), len(step.shape(0))
        if not isinstance(state, Axis):
            kept = len(_first_shape(step.node)) == rank
            touched = {place % rank for place in places(step)} if rank and kept else set()
            return _alike_along(step, state, touched)
        touched = {place % rank for place in places(step)}
        return MIXED if state.place in touched else _narrow(step, state, touched)

    return rule


def _alike_along(step: Step, state: State, touched: set[int]) -> State:
    """The state after an operation along some axes of a value without samples: a constant stays equal elsewhere."""
    if state is not EVEN:
        return state if state is MIXED else FIXED
    others = [
        place for place, size in enumerate(_first_shape(step.node)) if size == step.batch and place not in touched
    ]
    return Axis(others[0]) if others and step.batch > 1 else FIXED


def _narrow(step: Step, state: Axis, touched: set[int]) -> State:
    """The sample axis after a reduction that removed other axes or kept them with length one."""
    removed = len(step.shape(0)) - len(_first_shape(step.node))
    below = sum(place < state.place for place in touched) if removed else 0
    return Axis(state.place - below, state.inner, state.outer)


def _first_shape(node: fx.Node) -> Shape:
    held = node.meta.get("val")
    first = held[0] if isinstance(held, tuple | list) else held
    return tuple(first.shape) if isinstance(first, Tensor) else ()


def named_axes(step: Step) -> Sequence[int]:
    """The axes in an operation's `dim` or `dims` argument; all axes where none is given."""
    given = step.argument("dim", step.argument("dims"))
    if given is None or given == []:
        return range(len(step.shape(0)))
    return [given] if isinstance(given, int) else list(given)


def padded_axes(step: Step) -> Sequence[int]:
    """The trailing axes that a `pad` argument covers, two entries of the argument for each axis."""
    return range(-(len(step.argument("pad")) // 2), 0)


def first_axis(step: Step) -> State:
    """Rule for layers such as convolutions: the samples must lie on axis 0, and the weights must be fixed."""
    read = step.read()
    axes = {each for each in read if isinstance(each, Axis)}
    if MIXED in read or len(axes) > 1:
        return MIXED
    if not axes:
        return FIXED
    (axis,) = axes
    data = step.node.all_input_nodes[0]
    return axis if axis.place == 0 and step.known(data) in (axis, *ALIKE) else MIXED


def attention(step: Step) -> Any:
    """Rule for attention: queries, keys and values must share one sample axis, which is axis 0 or 1."""
    operands = [(step.known(each), shape_of(each)) for each in step.node.all_input_nodes]
    axes = {state for state, _ in operands if isinstance(state, Axis)}
    if MIXED in (state for state, _ in operands) or len(axes) > 1:
        return (MIXED,) * len(step.node.meta["val"])
    if not axes:
        return (FIXED,) * len(step.node.meta["val"])
    (axis,) = axes
    fixed = [shape for state, shape in operands if state is FIXED and len(shape) == 4]
    apart = axis.place < 2 and all(shape[axis.place] == 1 for shape in fixed)
    return (axis if apart else MIXED,) * len(step.node.meta["val"])


def lookup(step: Step) -> State:
    """Rule for embedding lookups: the sample axis is that of the indices, and the table must be fixed."""
    table, indices = step.state(0), step.state(1)
    if table is not FIXED:
        return MIXED
    return FIXED if indices in ALIKE else indices


def index(step: Step) -> State:
    """The sample axis after indexing another axis by fixed indices; any other indexing gives `MIXED`."""
    state, indices = step.state(0), step.argument("indices")
    asked = [(place, each) for place, each in enumerate(indices) if each is not None]
    if not isinstance(state, Axis):
        return FIXED if all(each in (FIXED, *ALIKE) for each in step.read()) else MIXED
    if len(asked) != 1 or asked[0][0] == state.place or step.known(asked[0][1]) not in (FIXED, EVEN):
        return MIXED
    place, which = asked[0]
    return Axis(state.place + (place < state.place) * (len(shape_of(which)) - 1), state.inner, state.outer)


def repeat(step: Step) -> State:
    """The sample axis after `repeat`; a fixed value repeated once per sample gains a sample axis."""
    state, old, times = step.state(0), step.shape(0), list(step.argument("repeats"))
    shift = len(times) - len(old)
    if isinstance(state, Axis):
        apart = times[state.place + shift] == 1
        return Axis(state.place + shift, state.inner, state.outer) if apart else MIXED
    if state is not FIXED:
        return state
    places = [place for place, each in enumerate(times) if each == step.batch > 1]
    return Axis(places[0], old[places[0] - shift] if places[0] >= shift else 1) if places else FIXED


def put_back(step: Step) -> State:
    """Rule for backward passes of slices (a value padded with zeros along one axis): other axes keep the samples."""
    state, whole = step.state(0), shape_of(step.node)
    along = step.argument("dim") % len(whole)
    if not isinstance(state, Axis):
        return _alike_along(step, state, {along})
    removed = len(whole) - len(step.shape(0))
    place = state.place + (removed and along <= state.place)
    return MIXED if place == along else Axis(place, state.inner, state.outer)


def overwrite(step: Step) -> State:
    """Rule for `copy`: the state of a source that covers the whole target, else that of an elementwise operation."""
    return step.state(1) if step.shape(0) == step.shape(1) else elementwise(step)


def drawn(_step: Step) -> State:
    """Rule for random fills: the result is independent draws of one distribution (`DRAWN`)."""
    return DRAWN


def even(_step: Step) -> State:
    """Rule for constant fills such as `zeros_like`: the result is one number everywhere (`EVEN`)."""
    return EVEN


def batch_norm(step: Step) -> Any:
    """Rule for batch norm: samples stay separate with fixed statistics, or where they lie on the channel axis."""
    state, results = step.state(0), len(step.node.meta["val"])
    others = [step.known(each) for each in step.node.all_input_nodes[1:]]
    if not isinstance(state, Axis):
        return (MIXED,) * results
    if state.place == 1 and all(each in (FIXED, EVEN, state, Axis(0, state.inner, state.outer)) for each in others):
        return (state, *(Axis(0, state.inner, state.outer),) * (results - 1))
    moves = step.argument("training", default=step.argument("train", default=False))
    apart = state.place == 0 and not moves and all(each in (FIXED, EVEN, state) for each in others)
    weights = FIXED if apart and not step.argument("output_mask") else MIXED
    return (state if apart else MIXED, *(weights,) * (results - 1))


def along_axis(step: Step) -> State:
    """Rule for `gather`: values and indices must share a sample axis that differs from the gathered one."""
    place = step.argument("dim") % max(len(step.shape(0)), 1)
    found = merge(
        [(step.known(each), shape_of(each)) for each in step.node.all_input_nodes],
        len(shape_of(step.node)),
        step.batch,
    )
    return MIXED if isinstance(found, Axis) and found.place == place else found


def layer_norm(step: Step) -> Any:
    """Rule for layer norm: samples stay separate unless their axis is among the normalised last axes."""
    state, rank, over_last = step.state(0), len(step.shape(0)), len(step.argument(1))
    apart = not isinstance(state, Axis) or state.place < rank - over_last
    return (state if apart else MIXED,) * 3


def layer_norm_backward(step: Step) -> Any:
    """Rule for layer norm's backward pass: the input gradient keeps samples separate, weight gradients mix them."""
    state, rank, over_last = step.state(0), len(step.shape(0)), len(step.argument(2))
    apart = isinstance(state, Axis) and state.place < rank - over_last and step.state(1) == state
    return (state if apart else MIXED, MIXED, MIXED)


def only_first(rule: Rule) -> Rule:
    """A rule for three results of which only the first keeps samples separate (the others are weight gradients)."""
    return lambda step: (rule(step), MIXED, MIXED)


def negative_log_likelihood(step: Step) -> Any:
    """Rule for the negative log-likelihood: separate for `reduction="none"`, mixed for a mean or a sum."""
    each = step.argument(3) == 0
    return (first_axis(step) if each else MIXED, FIXED if each else MIXED)
