"""Sample-axis rules for operations that permute, insert, remove, slice, join or multiply axes."""

from __future__ import annotations

from bruit.deep.checks.batch_axis import EVEN, FIXED, MIXED, Axis, Rule, State, Step, merge, named_axes, shape_of


def permute(step: Step) -> State:
    """The sample axis after `permute`."""
    state, rank = step.state(0), len(step.shape(0))
    if not isinstance(state, Axis):
        return state
    order = [place % rank for place in step.argument(1)]
    return Axis(order.index(state.place), state.inner, state.outer)


def transpose(step: Step) -> State:
    """The sample axis after two axes are swapped (`transpose`; by default the first two)."""
    state, rank = step.state(0), len(step.shape(0))
    if not isinstance(state, Axis):
        return state
    if rank < 2:
        return state
    one, other = (step.argument(name, default) % rank for name, default in (("dim0", 0), ("dim1", 1)))
    return Axis({one: other, other: one}.get(state.place, state.place), state.inner, state.outer)


def unsqueeze(step: Step) -> State:
    """The sample axis after an axis of length one is inserted."""
    state, rank = step.state(0), len(step.shape(0)) + 1
    if not isinstance(state, Axis):
        return state
    return Axis(state.place + (step.argument("dim") % rank <= state.place), state.inner, state.outer)


def squeeze(step: Step) -> State:
    """The sample axis after axes of length one are removed."""
    state, shape = step.state(0), step.shape(0)
    if not isinstance(state, Axis):
        return state
    gone = {place % len(shape) for place in named_axes(step) if shape[place % len(shape)] == 1}
    if state.place in gone:
        return MIXED
    return Axis(state.place - sum(place < state.place for place in gone), state.inner, state.outer)


def expand(step: Step) -> State:
    """The sample axis after `expand`; a fixed value expanded over the batch is the same for every sample."""
    state, old, new = step.state(0), step.shape(0), shape_of(step.node)
    shift = len(new) - len(old)
    if isinstance(state, Axis):
        return Axis(state.place + shift, state.inner, state.outer)
    if state is not FIXED:
        return state
    repeated = [
        place for place, size in enumerate(new) if size == step.batch and (place < shift or old[place - shift] == 1)
    ]
    return Axis(repeated[0]) if repeated and step.batch > 1 else FIXED


def cut(step: Step) -> State:
    """The sample axis after slicing; taking only some of the samples gives `MIXED`."""
    state, rank = step.state(0), len(step.shape(0))
    if not isinstance(state, Axis):
        return state
    if step.argument("dim") % rank != state.place:
        return state
    return state if shape_of(step.node) == step.shape(0) else MIXED


def select(step: Step) -> State:
    """The sample axis after one index is selected along another axis."""
    state, rank = step.state(0), len(step.shape(0))
    if not isinstance(state, Axis):
        return state
    place = step.argument("dim") % rank
    return MIXED if place == state.place else Axis(state.place - (place < state.place), state.inner, state.outer)


def several(rule: Rule) -> Rule:
    """A rule that gives every one of several results the state found by another rule."""
    return lambda step: (rule(step),) * len(step.node.meta["val"])


def concatenate(step: Step) -> State:
    """The sample axis after concatenation along another axis."""
    parts = step.argument(0)
    rank = len(shape_of(step.node))
    along = step.argument("dim") % rank
    found = merge([(step.known(each), shape_of(each)) for each in parts], rank, step.batch)
    return MIXED if isinstance(found, Axis) and found.place == along else found


def stack(step: Step) -> State:
    """The sample axis after stacking along a new axis."""
    parts = step.argument(0)
    found = merge([(step.known(each), shape_of(each)) for each in parts], len(shape_of(parts[0])), step.batch)
    if not isinstance(found, Axis):
        return found
    along = step.argument("dim") % len(shape_of(step.node))
    return Axis(found.place + (along <= found.place), found.inner, found.outer)


def product(left: int, right: int, *, batched: bool = False) -> Rule:
    """Rule for matrix products: samples may be rows of the left, columns of the right, or the shared batch axis."""

    def rule(step: Step) -> State:
        one, other = step.state(left), step.state(right)
        first = 1 if batched else 0
        if MIXED in (one, other):
            return MIXED
        if isinstance(one, Axis) and isinstance(other, Axis):
            return one if batched and one == other and one.place == 0 else MIXED
        if isinstance(one, Axis):
            fits = one.place == first or (one.place == 0 and other is EVEN)
            return one if fits and _added(step, left, one) else MIXED
        if isinstance(other, Axis):
            return other if other.place == first + 1 and _added(step, left, other) else MIXED
        rows = shape_of(step.node)[first] if len(shape_of(step.node)) > first else 0
        return Axis(first) if one is EVEN and rows == step.batch > 1 else FIXED

    return rule


def _added(step: Step, left: int, axis: Axis) -> bool:
    """Whether what a product is added to, where there is such, keeps to the axis of the result."""
    if left == 0:
        return True
    rank = len(shape_of(step.node))
    return isinstance(merge([(step.state(0), step.shape(0)), (axis, shape_of(step.node))], rank, step.batch), Axis)
