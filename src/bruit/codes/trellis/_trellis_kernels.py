"""Convolutional encoding and Viterbi decoding on the trellis of a shift register.

The register holds the newest bit in bit 0; the state is the register without its oldest bit's place:
state = register & (states − 1), and `patterns[register]` holds the coded bits, output q in bit q.
Viterbi runs LANES words side by side, the word innermost, in int16: metrics are (states, LANES), and bit f of
choice[step, state] says which parent word f kept.
"""
# ruff: noqa: ARG001 - the parameters of an instruction are read through its signature

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
    for_blocks,
    instruction,
    load,
    load_vector,
    store,
    store_vector,
)

Metrics = NDArray[np.int16]
Masks = NDArray[np.uint32]

LANES = 32  # sixteen bits a word fill a register of AVX-512, and the choices of 2000 steps the second-level cache
UNLIKELY = -8000  # the metric of a state in which a word cannot start
FLOOR = -12000
BETWEEN = 15  # metrics are brought back to zero every 16 steps: 16 · 254 cannot wrap int16

INT64, MASK = ir.IntType(64), ir.IntType(LANES)
ROW, SIXTEEN = ir.VectorType(ir.IntType(16), LANES), ir.VectorType(MASK, 16)


@kernel
def encode_words(
    bits: NDArray[np.uint8],
    feedback: int,
    patterns: NDArray[np.int64],
    outputs: int,
    start: NDArray[np.int64],
    free: int,
    coded: NDArray[np.uint8],
) -> None:
    """Encodes to coded bits (words, steps · outputs); from step `free` on, the register is fed zeros to flush it."""
    states = patterns.size // 2
    for w in range(bits.shape[0]):
        state = start[w]
        for t in range(coded.shape[1] // outputs):
            new = np.int64(0)
            if t < free:
                back = (state << 1) & feedback
                back ^= back >> 8
                back ^= back >> 4
                back ^= back >> 2
                back ^= back >> 1
                new = (np.int64(bits[w, t]) ^ back) & 1
            register = (state << 1) | new
            pattern = patterns[register]
            for q in range(outputs):
                coded[w, t * outputs + q] = (pattern >> q) & 1
            state = register & (states - 1)


def _keep_better(builder: Builder, first: Value, second: Value) -> tuple[Value, Value]:
    """The larger metric of each word, and a bit for each word: whether it is the second, which loses at a tie."""
    mask = builder.bitcast(builder.icmp_signed(">", second, first), MASK)
    return call(builder, "smax", first, second), mask


@instruction
def _step(
    typing: Typing,
    now: Type,
    nxt: Type,
    branches: Type,
    patterns: Type,
    low: Type,
    high: Type,
    half: Type,
    choice: Type,
    t: Type,
) -> Instruction:
    """One trellis step: states j and j + half (now[low + j], now[high + j]) lead to the states 2j and 2j + 1.

    branches[pattern] is what a branch with these coded bits adds.
    """

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        before, after, added, coded, kept = (
            array_pointer(context, builder, signature.args[i], values[i], kind)
            for i, kind in ((0, ROW), (1, ROW), (2, ROW), (3, INT64), (7, MASK))
        )
        states = builder.add(values[6], values[6])
        begin = builder.mul(values[8], states)
        with cgutils.for_range(builder, values[6]) as loop:
            parents = [load(builder, before, builder.add(first, loop.index)) for first in values[4:6]]
            even = builder.add(loop.index, loop.index)
            for bit in range(2):
                state = builder.add(even, ir.Constant(INT64, bit))
                ways = [
                    builder.add(parent, load(builder, added, load(builder, coded, register)))
                    for parent, register in zip(parents, (state, builder.add(state, states)), strict=True)
                ]
                best, mask = _keep_better(builder, *ways)
                store(builder, best, after, state)
                store(builder, mask, kept, builder.add(begin, state))
        return context.get_dummy_value()

    numbers = (types.int64,) * 3
    return types.void(now, nxt, branches, patterns, *numbers, choice, types.int64), generate


Butterfly = list[tuple[Value, Value]]


def _butterfly(builder: Builder, first: Value, second: Value, metric: Value) -> Butterfly:
    """The better ways into the states 2j and 2j + 1 where the four branches add m, −m, −m and m."""
    low = _keep_better(builder, builder.add(first, metric), builder.sub(second, metric))
    high = _keep_better(builder, builder.sub(first, metric), builder.add(second, metric))
    return [low, high]


def _two_plain_steps(
    builder: Builder, pointers: tuple[Value, ...], quarter: Value, step: Value, *, mirrored: bool
) -> None:
    """The loop of `_plain_steps` for one order of the parents."""
    before, after, first_added, second_added, coded, kept = pointers
    half = builder.add(quarter, quarter)
    begin = builder.mul(step, builder.add(half, half))
    later = builder.add(begin, builder.add(half, half))
    with cgutils.for_range(builder, quarter) as loop:
        starts = [builder.add(loop.index, builder.mul(quarter, ir.Constant(INT64, i))) for i in range(4)]
        four = [load(builder, before, start) for start in starts]
        middle = []
        for i in range(2):
            state = builder.add(starts[2 * i], loop.index) if i else builder.add(loop.index, loop.index)
            metric = load(builder, first_added, load(builder, coded, state))
            parents = (four[i + 2], four[i]) if mirrored else (four[i], four[i + 2])
            middle.append(_butterfly(builder, *parents, metric))
            for bit, (_, mask) in enumerate(middle[i]):
                store(builder, mask, kept, builder.add(begin, builder.add(state, ir.Constant(INT64, bit))))
        for i in range(2):
            state = builder.add(builder.mul(loop.index, ir.Constant(INT64, 4)), ir.Constant(INT64, 2 * i))
            metric = load(builder, second_added, load(builder, coded, state))
            first, second = (middle[j][i][0] for j in ((1, 0) if mirrored else (0, 1)))
            for bit, (best, mask) in enumerate(_butterfly(builder, first, second, metric)):
                child = builder.add(state, ir.Constant(INT64, bit))
                store(builder, best, after, child)
                store(builder, mask, kept, builder.add(later, child))


@instruction
def _plain_steps(
    typing: Typing,
    now: Type,
    nxt: Type,
    first_branches: Type,
    second_branches: Type,
    patterns: Type,
    quarter: Type,
    choice: Type,
    t: Type,
    mirrored: Type,
) -> Instruction:
    """Steps t and t + 1 where the trellis is plain: four states lead to four, whose metrics stay in registers between.

    States j and j + half lead to 2j and 2j + 1, j + quarter and its pair to 2j + half and 2j + half + 1, and these four
    to 4j … 4j + 3. One branch metric serves a butterfly, which saves three loads of four.
    """

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        kinds = ((0, ROW), (1, ROW), (2, ROW), (3, ROW), (4, INT64), (6, MASK))
        pointers = tuple(array_pointer(context, builder, signature.args[i], values[i], kind) for i, kind in kinds)
        turned = builder.icmp_unsigned("!=", values[8], ir.Constant(INT64, 0))
        with builder.if_else(turned) as (mirror, straight):
            with mirror:
                _two_plain_steps(builder, pointers, values[5], values[7], mirrored=True)
            with straight:
                _two_plain_steps(builder, pointers, values[5], values[7], mirrored=False)
        return context.get_dummy_value()

    arrays = (now, nxt, first_branches, second_branches, patterns)
    return types.void(*arrays, types.int64, choice, types.int64, types.int64), generate


@instruction
def _add_branches(typing: Typing, soft: Type, at: Type, outputs: Type, branches: Type) -> Instruction:
    """branches[pattern] = Σ ± soft[at + q], plus where bit q of the pattern is 0; each from that without its top 1."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        heard, sums = (array_pointer(context, builder, signature.args[i], values[i], ROW) for i in (0, 3))
        zero, one = ir.Constant(INT64, 0), ir.Constant(INT64, 1)
        store(builder, constant(ROW, 0), sums, zero)
        with cgutils.for_range(builder, values[2]) as loop:
            value = load(builder, heard, builder.add(values[1], loop.index))
            store(builder, builder.add(load(builder, sums, zero), value), sums, zero)
        with cgutils.for_range(builder, values[2]) as loop:
            value = load(builder, heard, builder.add(values[1], loop.index))
            top = builder.shl(one, loop.index)
            with cgutils.for_range(builder, top) as lower:
                changed = builder.sub(load(builder, sums, lower.index), builder.add(value, value))
                store(builder, changed, sums, builder.add(top, lower.index))
        return context.get_dummy_value()

    return types.void(soft, types.int64, types.int64, branches), generate


@instruction
def _bring_back(typing: Typing, metrics: Type, states: Type) -> Instruction:
    """Subtracts the metric of state 0 from all, so that sums stay small."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        rows = array_pointer(context, builder, signature.args[0], values[0], ROW)
        base = load(builder, rows, ir.Constant(INT64, 0))
        with cgutils.for_range(builder, values[1]) as loop:
            lower = builder.sub(load(builder, rows, loop.index), base)
            store(builder, call(builder, "smax", lower, constant(ROW, FLOOR)), rows, loop.index)
        return context.get_dummy_value()

    return types.void(metrics, types.int64), generate


@kernel
def _likeliest_state(metrics: Metrics, word: int, mirrored: int) -> int:
    """The state with the largest metric; at a tie the lowest, or the highest where `mirrored`."""
    best = 0
    for s in range(1, metrics.shape[0]):
        ahead = metrics[s, word] - metrics[best, word]
        if ahead > 0 or (mirrored and ahead == 0):
            best = s
    return best


@instruction
def _choose(typing: Typing, masks: Type, at: Type, half: Type, plane: Type) -> Instruction:
    """Puts masks[at + half + i] in place of masks[at + i], i below half, for the words whose bit of `plane` is 1."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        start = array_pointer(context, builder, signature.args[0], values[0], MASK)
        _, first, count, bits = values
        choosers = {SIXTEEN: broadcast(builder, bits, SIXTEEN.count), MASK: bits}

        def choose(kind: Type, index: Value) -> None:
            lower = builder.add(first, index)
            kept = load_vector(builder, kind, start, lower)
            other = load_vector(builder, kind, start, builder.add(lower, count))
            change = builder.and_(builder.xor(kept, other), choosers[kind])
            store_vector(builder, builder.xor(kept, change), start, lower)

        for_blocks(builder, count, SIXTEEN, choose)
        return context.get_dummy_value()

    return types.void(masks, types.int64, types.int64, types.uint32), generate


@instruction
def _choose_of_64(typing: Typing, masks: Type, at: Type, planes: Type) -> Instruction:
    """For every word its bit of one of masks[at … at + 63]: bit b of the number of that one is the word's in planes[b].

    The highest bit chooses last, for it is decided last: all that comes before does not wait for the step before.
    """

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        start, bits = (array_pointer(context, builder, signature.args[i], values[i], MASK) for i in (0, 2))
        left = load_vector(builder, ir.VectorType(MASK, 64), start, values[1])
        for b in range(6):
            half = left.type.count // 2
            orders = [list(range(first, 2 * half, 2)) for first in range(2)]
            even, odd = (
                builder.shuffle_vector(left, left, ir.Constant(ir.VectorType(ir.IntType(32), half), order))
                for order in orders
            )
            chooser = broadcast(builder, load(builder, bits, ir.Constant(INT64, b)), half)
            left = builder.xor(even, builder.and_(builder.xor(even, odd), chooser))
        return builder.extract_element(left, ir.Constant(ir.IntType(32), 0))

    return types.uint32(masks, types.int64, planes), generate


@kernel
def _trace_back(choice: Masks, planes: Masks, mirrored: int, path: NDArray[np.uint8]) -> None:
    """Path (LANES / 8, steps) becomes the register bits, word f in bit f & 7 of row f >> 3; `choice` is used up.

    planes[b] holds bit b of the state of every word. Which parent a word kept is found for all words at once: the
    highest bit of their states chooses between the halves of choice[t], the next one between quarters, and so on, the
    last 64 together.
    """
    memory = planes.size
    other = np.uint32(0) - np.uint32(mirrored)
    for t in range(path.shape[1] - 1, -1, -1):
        for g in range(path.shape[0]):
            path[g, t] = np.uint8(planes[0] >> np.uint32(8 * g))
        for b in range(memory - 1, 5 if memory >= 6 else -1, -1):
            _choose(choice, t << memory, 1 << b, planes[b])
        kept = _choose_of_64(choice, t << memory, planes) if memory >= 6 else choice[t, 0]
        for b in range(memory - 1):
            planes[b] = planes[b + 1]
        planes[memory - 1] = kept ^ other


@kernel
def _unpack(path: NDArray[np.uint8], bit: np.uint8, out: NDArray[np.uint8]) -> None:
    for t in range(out.size):
        out[t] = np.uint8(path[t] >> bit) & np.uint8(1)


@kernel
def viterbi_lanes(
    soft: Metrics,
    patterns: NDArray[np.int64],
    outputs: int,
    plain: int,
    starts: int,
    ends: int,
    mirrored: int,
    branches: Metrics,
    metrics: NDArray[np.int16],
    choice: Masks,
    path: NDArray[np.uint8],
    decoded: NDArray[np.uint8],
) -> None:
    """Viterbi decoding of soft (steps · outputs, LANES) to decoded (words, steps), the register bits of the best path.

    `starts` and `ends` say that the path begins and finishes in state 0. At a tie the lower parent is kept, and the
    lower last state. Where `mirrored`, both parents change places and ties go the other way: two paths that differ are
    equally likely. The caller then moves `patterns` by half, so that each parent keeps its own branch. `plain` is that
    of `Trellis`. Overwritten are branches (2, 2^outputs, LANES), metrics (2, states, LANES), those before and after a
    step in turns, choice (steps, states) and path (LANES / 8, steps).
    """
    states = patterns.size // 2
    half = states // 2
    words, steps = decoded.shape
    low, high = (half, 0) if mirrored else (0, half)
    top = 0
    while (1 << top) < half:
        top += 1
    metrics[0, :] = UNLIKELY if starts else 0
    metrics[0, 0] = 0
    t = turn = 0
    while t < steps:
        now, nxt = metrics[turn], metrics[1 - turn]
        _add_branches(soft, t * outputs, outputs, branches[0])
        if plain and t + 1 < steps:
            _add_branches(soft, (t + 1) * outputs, outputs, branches[1])
            _plain_steps(now, nxt, branches[0], branches[1], patterns, half // 2, choice, t, mirrored)
            t += 2
        else:
            _step(now, nxt, branches[0], patterns, low, high, half, choice, t)
            t += 1
        turn = 1 - turn
        if (t & BETWEEN) == 0:
            _bring_back(nxt, states)
    planes = np.zeros(top + 1, np.uint32)
    if not ends:
        for f in range(words):
            state = _likeliest_state(metrics[turn], f, mirrored)
            for b in range(top + 1):
                planes[b] |= np.uint32((state >> b) & 1) << np.uint32(f)
    _trace_back(choice, planes, mirrored, path)
    for f in range(words):
        _unpack(path[f >> 3], np.uint8(f & 7), decoded[f])
