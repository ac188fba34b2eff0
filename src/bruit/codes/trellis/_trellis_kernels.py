"""Convolutional encoding and Viterbi decoding on the trellis of a shift register.

The register holds the newest bit in bit 0; the state is the register without its oldest bit's place:
state = register & (states − 1), and `patterns[register]` holds the coded bits, output q in bit q.
Viterbi runs LANES words side by side, the word innermost, in int16: metrics are (states, LANES), and bit f of
choice[step, state] says which parent word f kept.
"""
# ruff: noqa: ARG001 - the parameters of an instruction are read through its signature

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
    for_blocks,
    instruction,
    load,
    load_vector,
    store,
    store_vector,
)

Metrics = NDArray[np.int16]
Masks = NDArray[np.uint64]

LANES = 64
UNLIKELY = -8000  # the metric of a state in which a word cannot start
FLOOR = -12000
BETWEEN = 15  # metrics are brought back to zero every 16 steps: 16 · 254 cannot wrap int16

INT64 = ir.IntType(64)
ROW, EIGHT = ir.VectorType(ir.IntType(16), LANES), ir.VectorType(INT64, 8)


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
    mask = builder.bitcast(builder.icmp_signed(">", second, first), ir.IntType(LANES))
    return call(builder, "smax", first, second), mask


def _generate_step(plain: bool, context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
    """One trellis step: states j and j + half (now[low + j], now[high + j]) lead to the states 2j and 2j + 1.

    branches[pattern] is what a branch with these coded bits adds. Where `plain`, the four branches of a butterfly add
    m, −m, −m and m, which saves three loads of four.
    """
    before, after, added, coded, kept = (
        array_pointer(context, builder, signature.args[i], values[i], kind)
        for i, kind in ((0, ROW), (1, ROW), (2, ROW), (3, INT64), (7, INT64))
    )
    low, high, half, step = values[4], values[5], values[6], values[8]
    states = builder.add(half, half)
    begin = builder.mul(step, states)
    with cgutils.for_range(builder, half) as loop:
        parents = [load(builder, before, builder.add(first, loop.index)) for first in (low, high)]
        even = builder.add(loop.index, loop.index)
        registers = [builder.add(even, ir.Constant(INT64, bit)) for bit in range(2)]
        metric = load(builder, added, load(builder, coded, even))
        for bit, state in enumerate(registers):
            if plain:
                signs = (builder.sub, builder.add) if bit else (builder.add, builder.sub)
                ways = [sign(parent, metric) for sign, parent in zip(signs, parents, strict=True)]
            else:
                ways = [
                    builder.add(parent, load(builder, added, load(builder, coded, register)))
                    for parent, register in zip(parents, (state, builder.add(state, states)), strict=True)
                ]
            best, mask = _keep_better(builder, *ways)
            store(builder, best, after, state)
            store(builder, mask, kept, builder.add(begin, state))
    return context.get_dummy_value()


def _signature(arrays: tuple[Type, ...], choice: Type) -> Type:
    numbers = (types.int64,) * 3
    return types.void(*arrays, *numbers, choice, types.int64)


@instruction
def _plain_step(
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
    return _signature((now, nxt, branches, patterns), choice), partial(_generate_step, True)


@instruction
def _any_step(
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
    return _signature((now, nxt, branches, patterns), choice), partial(_generate_step, False)


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


@kernel
def _bring_back(metrics: Metrics) -> None:
    """Subtracts the metric of state 0 from all, so that sums stay small."""
    base = metrics[0].copy()
    for s in range(metrics.shape[0]):
        for f in range(LANES):
            metrics[s, f] = max(np.int16(FLOOR), np.int16(metrics[s, f] - base[f]))


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
        start = array_pointer(context, builder, signature.args[0], values[0], INT64)
        _, first, count, bits = values
        choosers = {EIGHT: broadcast(builder, bits, EIGHT.count), INT64: bits}

        def choose(kind: Type, index: Value) -> None:
            lower = builder.add(first, index)
            kept = load_vector(builder, kind, start, lower)
            other = load_vector(builder, kind, start, builder.add(lower, count))
            change = builder.and_(builder.xor(kept, other), choosers[kind])
            store_vector(builder, builder.xor(kept, change), start, lower)

        for_blocks(builder, count, EIGHT, choose)
        return context.get_dummy_value()

    return types.void(masks, types.int64, types.int64, types.uint64), generate


@kernel
def _trace_back(choice: Masks, planes: Masks, mirrored: int, path: NDArray[np.uint8]) -> None:
    """Path (LANES / 8, steps) becomes the register bits, word f in bit f & 7 of row f >> 3; `choice` is used up.

    planes[b] holds bit b of the state of every word. Which parent a word kept is found for all words at once: the
    highest bit of their states chooses between the halves of choice[t], the next one between quarters, and so on.
    """
    memory = planes.size
    other = np.uint64(0) - np.uint64(mirrored)
    for t in range(path.shape[1] - 1, -1, -1):
        for g in range(path.shape[0]):
            path[g, t] = np.uint8(planes[0] >> np.uint64(8 * g))
        for b in range(memory - 1, -1, -1):
            _choose(choice, t << memory, 1 << b, planes[b])
        for b in range(memory - 1):
            planes[b] = planes[b + 1]
        planes[memory - 1] = choice[t, 0] ^ other


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
    of `Trellis`. Overwritten are branches (2^outputs, LANES), metrics (2, states, LANES), those before and after a step
    in turns, choice (steps, states) and path (LANES / 8, steps).
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
    for t in range(steps):
        _add_branches(soft, t * outputs, outputs, branches)
        nxt = metrics[(t + 1) & 1]
        if plain:
            _plain_step(metrics[t & 1], nxt, branches, patterns, low, high, half, choice, t)
        else:
            _any_step(metrics[t & 1], nxt, branches, patterns, low, high, half, choice, t)
        if (t & BETWEEN) == BETWEEN:
            _bring_back(nxt)
    planes = np.zeros(top + 1, np.uint64)
    if not ends:
        for f in range(words):
            state = _likeliest_state(metrics[steps & 1], f, mirrored)
            for b in range(top + 1):
                planes[b] |= np.uint64((state >> b) & 1) << np.uint64(f)
    _trace_back(choice, planes, mirrored, path)
    for f in range(words):
        _unpack(path[f >> 3], np.uint8(f & 7), decoded[f])
