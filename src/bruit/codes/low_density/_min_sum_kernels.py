"""Layered min-sum for LDPC codes, LANES words side by side.

total[variable, word] (int16) is what was heard of a bit plus what every check says of it; message[edge · lifting + row,
word] (int8) is what the check in that row of that circulant said last. The word is innermost: what one edge of a check
needs is one run of LANES numbers. A check's least, second and sign stay in registers while its edges pass.
"""
# ruff: noqa: ARG001 - the parameters of an instruction are read through its signature

from collections.abc import Callable
from functools import partial

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numpy.typing import NDArray

from bruit._jit import kernel
from bruit.codes._vector_code import (
    Builder,
    Context,
    Instruction,
    Signature,
    Type,
    Typing,
    Value,
    Values,
    array_pointer,
    broadcast,
    call,
    constant,
    instruction,
    load,
    magnitude,
    store,
)

Index = NDArray[np.int64]
Totals = NDArray[np.int16]
Messages = NDArray[np.int8]

LANES = 32
TOGETHER = 4  # checks a time; measured: a fifth faster than one
LARGEST = 127  # no message is larger
KNOWN = 2000  # the total of a bit that is known to be 0: far above what checks can say against it
GRAIN = 6  # the factor counts in 2^-6: 127 · 2^6 fits int16

NARROW, WIDE = ir.VectorType(ir.IntType(8), LANES), ir.VectorType(ir.IntType(16), LANES)
INT64, MASK = ir.IntType(64), ir.IntType(LANES)


def _scaled(builder: Builder, least: Value, factor: Value) -> Value:
    """The least input times factor / 2^GRAIN, rounded down, but at least 1 where the input is not 0.

    A message thus never fades to nothing, however many checks it passes: over erasures the decoder
    knows a bit exactly where peeling does. Rounding to the nearest needs more iterations for no gain.
    """
    product = builder.mul(builder.zext(least, WIDE), factor)
    scaled = builder.trunc(builder.lshr(product, constant(WIDE, GRAIN)), NARROW)
    return call(builder, "umax", scaled, call(builder, "umin", least, constant(NARROW, 1)))


def _places(
    builder: Builder, column: Value, shift: Value, row: Value, lifting: Value
) -> Callable[[Value, int], list[tuple[Value, Value]]]:
    """A function from an edge to the memory indices of its totals and messages in several rows of the circulants."""

    def places(edge: Value, rows: int) -> list[tuple[Value, Value]]:
        turn, block = builder.add(row, load(builder, shift, edge)), builder.mul(load(builder, column, edge), lifting)
        message = builder.add(builder.mul(edge, lifting), row)
        found = []
        for further in range(rows):
            at = builder.add(turn, ir.Constant(INT64, further))
            turned = builder.select(builder.icmp_signed(">=", at, lifting), builder.sub(at, lifting), at)
            found.append((builder.add(block, turned), builder.add(message, ir.Constant(INT64, further))))
        return found

    return places


def _take_in(builder: Builder, heard: Value, least: Value, second: Value, sign: Value) -> None:
    """Keeps the two least sizes and the product of the signs, each in its slot."""
    size, former = magnitude(builder, heard), builder.load(least)
    rival = call(builder, "umax", former, size)
    builder.store(call(builder, "umin", builder.load(second), rival), second)
    builder.store(call(builder, "umin", former, size), least)
    builder.store(builder.xor(builder.load(sign), heard), sign)


def _signed(builder: Builder, size: Value, sign: Value) -> Value:
    """−size in the lanes where `sign` is negative."""
    flip = builder.ashr(sign, constant(NARROW, 7))
    return builder.sub(builder.xor(size, flip), flip)


def _slots(builder: Builder, *starts: Value) -> list[Value]:
    """Stack variables with these initial values, which LLVM keeps in registers."""
    slots = [cgutils.alloca_once(builder, start.type) for start in starts]
    for slot, start in zip(slots, starts, strict=True):
        builder.store(start, slot)
    return slots


def _cut(builder: Builder, values: Value) -> Value:
    """Numbers of 16 bits in 8, cut to ±LARGEST; one instruction cuts to what 8 bits hold, another takes off −128."""
    held = call(builder, "smin", call(builder, "smax", values, constant(WIDE, -LARGEST - 1)), constant(WIDE, LARGEST))
    return call(builder, "smax", builder.trunc(held, NARROW), constant(NARROW, -LARGEST))


def _update_checks(checks: int, context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
    """So many checks of one row of circulants, from `row` on: new messages to their bits, and the totals of these.

    `work` holds on the way what the others say of a bit, cut to ±LARGEST. Several checks at a time, which share no bit,
    hide how long each takes.
    """
    kinds = (WIDE, NARROW, NARROW, INT64, INT64)
    total, message, work, column, shift = (
        array_pointer(context, builder, signature.args[i], values[i], kind) for i, kind in enumerate(kinds)
    )
    first, last, row, lifting, factor = values[5:]
    places = _places(builder, column, shift, row, lifting)
    most, one = constant(NARROW, LARGEST), ir.Constant(INT64, 1)
    state = [_slots(builder, most, most, constant(NARROW, 0)) for _ in range(checks)]

    def others(variable: Value, at: Value) -> Value:
        said = builder.sext(load(builder, message, at), WIDE)
        return call(builder, "ssub.sat", load(builder, total, variable), said)

    with cgutils.for_range_slice(builder, first, last, one, inc=True) as (edge, count):
        for check, (variable, at) in enumerate(places(edge, checks)):
            heard = _cut(builder, others(variable, at))
            store(builder, heard, work, _work_row(builder, count, check, checks))
            _take_in(builder, heard, *state[check])
    ends = [[builder.load(slot) for slot in slots] for slots in state]
    scale = broadcast(builder, factor, LANES)
    answers = [[_scaled(builder, size, scale) for size in (second, least)] for least, second, _ in ends]
    with cgutils.for_range_slice(builder, first, last, one, inc=True) as (edge, count):
        for check, (variable, at) in enumerate(places(edge, checks)):
            least, _, sign = ends[check]
            heard = load(builder, work, _work_row(builder, count, check, checks))
            is_least = builder.icmp_unsigned("==", magnitude(builder, heard), least)
            answer = _signed(builder, builder.select(is_least, *answers[check]), builder.xor(sign, heard))
            changed = call(builder, "sadd.sat", others(variable, at), builder.sext(answer, WIDE))
            store(builder, answer, message, at)
            store(builder, changed, total, variable)
    return context.get_dummy_value()


def _work_row(builder: Builder, count: Value, check: int, checks: int) -> Value:
    return builder.add(builder.mul(count, ir.Constant(INT64, checks)), ir.Constant(INT64, check))


def _update(arrays: tuple[Type, ...], checks: int) -> Instruction:
    numbers = (types.int64,) * 4
    return types.void(*arrays, *numbers, types.int16), partial(_update_checks, checks)


@instruction
def _update_check(
    typing: Typing,
    total: Type,
    message: Type,
    work: Type,
    column: Type,
    shift: Type,
    first: Type,
    last: Type,
    row: Type,
    lifting: Type,
    factor: Type,
) -> Instruction:
    return _update((total, message, work, column, shift), 1)


@instruction
def _update_together(
    typing: Typing,
    total: Type,
    message: Type,
    work: Type,
    column: Type,
    shift: Type,
    first: Type,
    last: Type,
    row: Type,
    lifting: Type,
    factor: Type,
) -> Instruction:
    return _update((total, message, work, column, shift), TOGETHER)


def _mark_violations(checks: int, context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
    """Marks the words that violate any of so many checks of one row of circulants, from `row` on; whether all do."""
    total, column, shift, marks = (
        array_pointer(context, builder, signature.args[i], values[i], kind)
        for i, kind in ((0, WIDE), (1, INT64), (2, INT64), (7, WIDE))
    )
    first, last, row, lifting = values[3:7]
    places, zero = _places(builder, column, shift, row, lifting), ir.Constant(INT64, 0)
    odd = _slots(builder, *[constant(WIDE, 0)] * checks)
    with cgutils.for_range_slice(builder, first, last, ir.Constant(INT64, 1), inc=True) as (edge, _):
        for slot, (variable, _) in zip(odd, places(edge, checks), strict=True):
            builder.store(builder.xor(builder.load(slot), load(builder, total, variable)), slot)
    found = load(builder, marks, zero)
    for slot in odd:
        found = builder.or_(found, builder.load(slot))
    store(builder, found, marks, zero)
    negative = builder.icmp_signed("<", found, constant(WIDE, 0))
    return builder.icmp_signed("==", builder.bitcast(negative, MASK), ir.Constant(MASK, -1))


def _marking(arrays: tuple[Type, ...], marks: Type, checks: int) -> Instruction:
    numbers = (types.int64,) * 4
    return types.boolean(*arrays, *numbers, marks), partial(_mark_violations, checks)


@instruction
def _is_violated(
    typing: Typing,
    total: Type,
    column: Type,
    shift: Type,
    first: Type,
    last: Type,
    row: Type,
    lifting: Type,
    bad: Type,
) -> Instruction:
    return _marking((total, column, shift), bad, 1)


@instruction
def _are_violated(
    typing: Typing,
    total: Type,
    column: Type,
    shift: Type,
    first: Type,
    last: Type,
    row: Type,
    lifting: Type,
    bad: Type,
) -> Instruction:
    return _marking((total, column, shift), bad, TOGETHER)


@instruction
def _mark_zeros(typing: Typing, total: Type, variables: Type, bad: Type) -> Instruction:
    """Makes bad[word] negative where the word has a total of 0."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        totals, marks = (array_pointer(context, builder, signature.args[i], values[i], WIDE) for i in (0, 2))
        zero = ir.Constant(INT64, 0)
        (found,) = _slots(builder, load(builder, marks, zero))
        with cgutils.for_range(builder, values[1]) as loop:
            undecided = builder.icmp_unsigned("==", load(builder, totals, loop.index), constant(WIDE, 0))
            builder.store(builder.or_(builder.load(found), builder.sext(undecided, WIDE)), found)
        store(builder, builder.load(found), marks, zero)
        return context.get_dummy_value()

    return types.void(total, types.int64, bad), generate


@instruction
def _copy_marked(typing: Typing, source: Type, variables: Type, marks: Type, target: Type) -> Instruction:
    """Copies the totals of the words whose mark is negative."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        read, marked, write = (array_pointer(context, builder, signature.args[i], values[i], WIDE) for i in (0, 2, 3))
        taken = builder.icmp_signed("<", load(builder, marked, ir.Constant(INT64, 0)), constant(WIDE, 0))
        with cgutils.for_range(builder, values[1]) as loop:
            chosen = builder.select(taken, load(builder, read, loop.index), load(builder, write, loop.index))
            store(builder, chosen, write, loop.index)
        return context.get_dummy_value()

    return types.void(source, types.int64, marks, target), generate


@kernel
def find_violations(total: Totals, row_start: Index, column: Index, shift: Index, lifting: int, bad: Totals) -> bool:
    """Makes bad[word] negative where a check is violated or a total is 0; returns whether all words are bad.

    Words that are bad beforehand stay so; it ends where no other is left.
    """
    even = lifting - lifting % TOGETHER
    for r in range(row_start.size - 1):
        first, last = row_start[r], row_start[r + 1]
        for z in range(0, even, TOGETHER):
            if _are_violated(total, column, shift, first, last, z, lifting, bad):
                return True
        for z in range(even, lifting):
            if _is_violated(total, column, shift, first, last, z, lifting, bad):
                return True
    _mark_zeros(total, total.shape[0], bad)
    return bool(bad.max() < 0)


@kernel
def min_sum_lanes(
    total: Totals,
    row_start: Index,
    column: Index,
    shift: Index,
    lifting: int,
    iterations: int,
    factor: np.int16,
    message: Messages,
    work: Messages,
    kept: Totals,
    marks: Totals,
) -> None:
    """Layered min-sum on total (variables, LANES), in place, until each word has satisfied all checks once.

    message (edges · lifting, LANES), work (TOGETHER · edges of the widest row, LANES) and kept (variables, LANES) are
    overwritten: kept holds the totals of words that were done before others. Of marks (3, LANES), marks[0, word] ends
    negative where the word is done.
    """
    done, bad, fresh = marks[0], marks[1], marks[2]
    done[:] = 0
    message[:] = 0
    for _ in range(iterations):
        for r in range(row_start.size - 1):
            first, last = row_start[r], row_start[r + 1]
            even = lifting - lifting % TOGETHER
            for z in range(0, even, TOGETHER):
                _update_together(total, message, work, column, shift, first, last, z, lifting, factor)
            for z in range(even, lifting):
                _update_check(total, message, work, column, shift, first, last, z, lifting, factor)
        bad[:] = done
        if find_violations(total, row_start, column, shift, lifting, bad):
            continue
        for word in range(LANES):
            fresh[word] = -1 if bad[word] >= 0 else 0
        _copy_marked(total, total.shape[0], fresh, kept)
        done |= fresh
        if done.max() < 0:
            break
    _copy_marked(kept, total.shape[0], done, total)
