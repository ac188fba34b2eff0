"""Encoding and successive-cancellation list decoding of polar codes.

A word of 2^m bits is a tree of halves. The decoder walks it by a plan, a table of (action, stage, side) made once a
code: a node of stage s spans 2^s bits. All paths of the list, at most `room`, walk in step, so that whatever a stage
holds is rewritten for all of them at once:
- llr: log-likelihoods of the node now open at each stage; those of stage s in lane p are the 2^s numbers from
  room · (2^s − 1) + p · 2^s on;
- bits[0] and bits[1]: the coded bits decided for the last left and right node of each stage; those of stage s are the
  2^s numbers from 2^s − 1 on, and bit p of each number belongs to lane p;
- lane[p, row]: the lane in which path p finds its numbers of that row; rows are 3 · stage + (0 left bits, 1 right bits,
  2 llr). A path that takes another's place copies that row of lanes; the numbers themselves stay where they are.
The metric of a path is the sum of |llr| over what it decided against: smaller is likelier.
[Balatsoukas-Stimming, Parizi & Burg 2015]
"""

# ruff: noqa: ARG001 - the parameters of an instruction are read through its signature

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numpy.typing import NDArray

from bruit._jit import kernel, uncounted
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
    constant,
    for_blocks,
    instruction,
    load_vector,
    store_vector,
)

FIRST_HALF, SECOND_HALF, COMBINE, FROZEN, REPEATED, FREE = 0, 1, 2, 3, 4, 5
"""What a step of the plan does; the last three are nodes with no, one and only message bits."""

LLR = 2  # the row of log-likelihoods beside those of left and right bits
SAME = np.float32(1e-6)  # metrics no further apart than this share are equal: a rounding of float32

INT32, INT64 = ir.IntType(32), ir.IntType(64)
KEYS = ir.VectorType(INT64, 8)
LARGEST = 2**64 - 1
EIGHT, FLOATS = ir.VectorType(INT32, 8), ir.VectorType(ir.FloatType(), 8)
SIZE, SIGN = 0x7FFFFFFF, 0x80000000  # of the bit pattern of a float32

Floats = NDArray[np.float32]
Flags = NDArray[np.uint8]
Packed = NDArray[np.uint32]
Slots = NDArray[np.int64]
Lanes = NDArray[np.uint8]
Work = tuple[Floats, Floats, Slots, Slots, Flags, Lanes, Packed, Slots, Slots, Slots, Slots, NDArray[np.uint64]]
"""Room for: metrics of turned paths, |llr| of least sure bits (room, room), parents, a number a path, turned, lanes,
bits, origins, flips, another number a path, places of least sure bits (room, room), a key a path."""


@uncounted
def _transform_word(row: NDArray[np.uint8] | NDArray[np.uint32]) -> None:
    length = row.size
    for i in range(0, length, 2):
        row[i] ^= row[i + 1]
    for i in range(0, length - 2, 4):
        row[i] ^= row[i + 2]
        row[i + 1] ^= row[i + 3]
    half = 4
    while half < length:
        for start in range(0, length, 2 * half):
            for i in range(start, start + half):
                row[i] ^= row[i + half]
        half *= 2


@kernel
def transform(bits: NDArray[np.uint8]) -> None:
    """The polar transform x = u·G in place (words, 2^m), G = [[1, 0], [1, 1]]^⊗m; its own inverse.    [Arıkan 2009]"""
    for word in range(bits.shape[0]):
        _transform_word(bits[word])


@instruction
def _first_half(typing: Typing, llr: Type, above: Type, below: Type, count: Type) -> Instruction:
    """llr[below + i] = what is known of the sum of bits above + i and above + count + i: the smaller, by min-sum."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        patterns = array_pointer(context, builder, signature.args[0], values[0], INT32)
        _, source, target, half = values

        def combine(kind: Type, index: Value) -> None:
            first = builder.add(source, index)
            pair = [load_vector(builder, kind, patterns, at) for at in (first, builder.add(first, half))]
            sizes = [builder.and_(value, constant(kind, SIZE)) for value in pair]
            smaller = builder.select(builder.icmp_unsigned("<", *sizes), *sizes)  # patterns order as sizes do
            sign = builder.and_(builder.xor(*pair), constant(kind, SIGN))
            store_vector(builder, builder.or_(smaller, sign), patterns, builder.add(target, index))

        for_blocks(builder, half, EIGHT, combine)
        return context.get_dummy_value()

    return types.void(llr, types.int64, types.int64, types.int64), generate


@instruction
def _second_half(
    typing: Typing, llr: Type, above: Type, below: Type, count: Type, bits: Type, at: Type, lane: Type
) -> Instruction:
    """llr[below + i] = what is known of the bit above + count + i, once its sum with above + i is decided.

    The decision is bit `lane` of bits[0, at + i].
    """

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        patterns, decided = (array_pointer(context, builder, signature.args[i], values[i], INT32) for i in (0, 4))
        _, source, target, half, _, start, path = values
        shift = builder.trunc(path, INT32)
        shifts = {EIGHT: broadcast(builder, shift, EIGHT.count), INT32: shift}

        def add(kind: Type, index: Value) -> None:
            first = builder.add(source, index)
            pair = [load_vector(builder, kind, patterns, place) for place in (first, builder.add(first, half))]
            bit = builder.lshr(load_vector(builder, kind, decided, builder.add(start, index)), shifts[kind])
            turned = builder.xor(pair[0], builder.shl(bit, constant(kind, 31)))
            floats = FLOATS if kind == EIGHT else ir.FloatType()
            total = builder.fadd(*(builder.bitcast(value, floats) for value in (pair[1], turned)))
            store_vector(builder, builder.bitcast(total, kind), patterns, builder.add(target, index))

        for_blocks(builder, half, EIGHT, add)
        return context.get_dummy_value()

    numbers = types.int64
    return types.void(llr, numbers, numbers, numbers, bits, numbers, numbers), generate


@uncounted
def _gather(source: Packed, lane: np.uint32, path: np.uint32, out: Packed) -> None:
    """Adds the bits of one lane to those of a path."""
    for i in range(out.size):
        out[i] |= ((source[i] >> lane) & np.uint32(1)) << path


@uncounted
def _rearrange(source: Packed, lanes: Lanes | Slots, active: int, out: Packed) -> None:
    """Permutes the bits of all paths: path p takes those of lane lanes[p]; most stay in place."""
    still = np.uint32(0)
    for p in range(active):
        if lanes[p] == p:
            still |= np.uint32(1) << np.uint32(p)
    for i in range(out.size):
        out[i] = source[i] & still
    for p in range(active):
        if lanes[p] != p:
            _gather(source, np.uint32(lanes[p]), np.uint32(p), out)


@uncounted
def _combine(first: Packed, second: Packed, lane: Lanes, row: int, active: int, out: Packed, spare: Packed) -> None:
    """The coded bits of a node from those of its two halves, each path's from its own lanes."""
    count = first.size
    still = True
    for p in range(active):
        still &= lane[p, row] == p and lane[p, row + 1] == p
    if still:
        for i in range(count):
            out[i] = first[i] ^ second[i]
            out[i + count] = second[i]
        return
    lower, upper = spare[:count], out[count:]
    _rearrange(first, lane[:, row], active, lower)
    _rearrange(second, lane[:, row + 1], active, upper)
    for i in range(count):
        out[i] = lower[i] ^ upper[i]


@uncounted
def _choose(
    metric: Floats, flipped: Floats, active: int, room: int, parent: Slots, turned: Flags, doubted: Flags
) -> int:
    """Keeps the `room` best of every path as it is and every path turned over; returns how many there are now.

    parent[p] and turned[p] say what path p is from now on; a surviving path stays in its place. `doubted` marks paths
    that were kept although one as good was dropped.
    """
    for p in range(active):
        parent[p] = p
        turned[p] = 0
    kept = active
    while kept < room and kept < 2 * active:  # there is room for all of them
        parent[kept] = kept - active
        turned[kept] = 1
        doubted[kept] = doubted[kept - active]
        metric[kept] = flipped[kept - active]
        kept += 1
    dropped = np.float32(np.inf)
    worst = 0
    for q in range(1, kept):
        if metric[q] > metric[worst]:
            worst = q
    for p in range(kept - active, active):  # the turned ones that may still take the place of the worst
        if flipped[p] >= metric[worst]:
            dropped = min(dropped, flipped[p])
            continue
        dropped = min(dropped, metric[worst])
        parent[worst] = p
        turned[worst] = 1
        metric[worst] = flipped[p]
        doubted[worst] = doubted[p]
        for q in range(kept):
            if metric[q] > metric[worst]:
                worst = q
    if metric[worst] >= dropped * (np.float32(1) - SAME):
        for p in range(kept):
            if metric[p] >= dropped * (np.float32(1) - SAME):
                doubted[p] = 1
    return kept


@uncounted
def _follow(parent: Slots, active: int, kept: int, lane: Lanes, spare: Lanes) -> bool:
    """Copies to every path the lanes of its parent, eight rows at a time; returns whether any path changed."""
    still = kept == active
    for p in range(active):
        still &= parent[p] == p
    if still:
        return False
    old, new = lane.view(np.uint64), spare.view(np.uint64)
    for p in range(kept):
        if parent[p] != p:
            for row in range(old.shape[1]):
                new[p, row] = old[parent[p], row]
    for p in range(kept):
        if parent[p] != p:
            for row in range(old.shape[1]):
                old[p, row] = new[p, row]
    return True


@uncounted
def _costs(values: Floats, first: int, size: int) -> tuple[np.float32, np.float32]:
    """The path metrics of all zeros and of all ones at a node whose log-likelihood ratios start at `first`."""
    zeros = np.float32(0)
    ones = np.float32(0)
    if size >= 4:  # four sums side by side: one alone waits for itself
        a = b = c = d = e = f = g = h = np.float32(0)
        for i in range(first, first + size, 4):
            a += max(np.float32(0), -values[i])
            b += max(np.float32(0), -values[i + 1])
            c += max(np.float32(0), -values[i + 2])
            d += max(np.float32(0), -values[i + 3])
            e += max(np.float32(0), values[i])
            f += max(np.float32(0), values[i + 1])
            g += max(np.float32(0), values[i + 2])
            h += max(np.float32(0), values[i + 3])
        return (a + b) + (c + d), (e + f) + (g + h)
    for i in range(first, first + size):
        zeros += max(np.float32(0), -values[i])
        ones += max(np.float32(0), values[i])
    return zeros, ones


@instruction
def _next_least(typing: Typing, llr: Type, at: Type, size: Type, last: Type) -> Instruction:
    """The least of the numbers 2^32 · (the pattern of |llr[at + i]|) + i, i below size, that are at least `last`.

    Patterns order as sizes do; of equals the first comes first.
    """

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        patterns = array_pointer(context, builder, signature.args[0], values[0], INT32)
        _, first, size, last = values
        order = {EIGHT: ir.Constant(KEYS, list(range(8))), INT32: ir.Constant(INT64, 0)}
        slots = {EIGHT: cgutils.alloca_once(builder, KEYS), INT32: cgutils.alloca_once(builder, INT64)}
        for slot in slots.values():
            builder.store(constant(slot.type.pointee, LARGEST), slot)

        def keep_less(kind: Type, index: Value) -> None:
            keys = slots[kind].type.pointee

            def spread(value: Value) -> Value:
                return broadcast(builder, value, keys.count) if kind == EIGHT else value

            pattern = builder.and_(
                load_vector(builder, kind, patterns, builder.add(first, index)), constant(kind, SIZE)
            )
            high = builder.shl(builder.zext(pattern, keys), constant(keys, 32))
            key = builder.or_(high, builder.add(spread(index), order[kind]))
            less = builder.icmp_unsigned("<", key, builder.load(slots[kind]))
            taken = builder.and_(less, builder.icmp_unsigned(">=", key, spread(last)))
            builder.store(builder.select(taken, key, builder.load(slots[kind])), slots[kind])

        for_blocks(builder, size, EIGHT, keep_less)
        kind = ir.FunctionType(INT64, [KEYS])
        function = cgutils.get_or_insert_function(builder.module, kind, "llvm.vector.reduce.umin.v8i64")
        pair = builder.call(function, [builder.load(slots[EIGHT])]), builder.load(slots[INT32])
        return builder.select(builder.icmp_unsigned("<", *pair), *pair)

    return types.uint64(llr, types.int64, types.int64, types.uint64), generate


@uncounted
def _take_places(out: Packed, places: NDArray[np.int64], kept: int, work: Work) -> None:
    """Copies the bits of a message node from each path's parent, and flips those that the path flipped."""
    origin, flips, spare = work[7], work[8], work[6]
    moved = spare[: out.size]
    _rearrange(out, origin, kept, moved)
    for i in range(out.size):
        out[i] = moved[i]
    for p in range(kept):
        left = flips[p]
        split = 0
        while left:
            if left & 1:
                out[places[origin[p], split]] ^= np.uint32(1) << np.uint32(p)
            left >>= 1
            split += 1


@uncounted
def _split_free(
    llr: Floats,
    base: int,
    size: int,
    active: int,
    room: int,
    lane: Lanes,
    row: int,
    metric: Floats,
    doubted: Flags,
    work: Work,
) -> int:
    """Splits paths at the bits of a free node, the least sure first; returns how many there are then.

    What path p becomes stands in origin[p], the path it comes from, and in flips[p], whose bit i says that it has
    turned over that path's i-th bit.
    """
    flipped, values, parent, new_origin, turned = work[0], work[1], work[2], work[3], work[4]
    origin, flips, new_flips, places, keys = work[7], work[8], work[9], work[10], work[11]
    for p in range(active):
        origin[p] = p
        flips[p] = 0
        keys[p] = 0
    origins = active
    for split in range(min(room, size)):
        for p in range(origins):
            at = base + np.int64(lane[p, row]) * size
            key = _next_least(llr, at, size, keys[p])
            keys[p] = key + np.uint64(1)
            places[p, split] = np.int64(key & np.uint64(0xFFFFFFFF))
            values[p, split] = abs(llr[at + places[p, split]])
        best, worst = np.float32(np.inf), np.float32(0)
        for p in range(active):
            value = values[origin[p], split]
            flipped[p] = metric[p] + value
            best, worst = min(best, flipped[p]), max(worst, metric[p])
            if value == 0 and split == room - 1:
                doubted[p] = 1
        if split == room - 1 or (active == room and best > worst):
            break
        active = _choose(metric, flipped, active, room, parent, turned, doubted)
        for p in range(active):
            new_origin[p] = origin[parent[p]]
            new_flips[p] = flips[parent[p]] | np.int64(turned[p]) << split
        for p in range(active):
            origin[p] = new_origin[p]
            flips[p] = new_flips[p]
    return active


@uncounted
def _free_node(
    llr: Floats,
    base: int,
    out: Packed,
    active: int,
    room: int,
    lane: Lanes,
    row: int,
    metric: Floats,
    doubted: Flags,
    work: Work,
) -> int:
    """Decodes a node of message bits only: each path decides by sign and may flip its least certain bits in turn.

    Only the room − 1 least sure ones can matter, and none after one that matters to no path.
    [Hashemi, Condo & Gross 2017, Theorem 1]
    """
    size = out.size
    out[:] = 0
    best, worst = np.float32(np.inf), np.float32(0)
    for p in range(active):
        at = base + np.int64(lane[p, row]) * size
        least = np.float32(np.inf)
        for i in range(size):
            v = llr[at + i]
            out[i] |= np.uint32(1 if v < 0 else 0) << np.uint32(p)
            least = min(least, abs(v))
        best, worst = min(best, metric[p] + least), max(worst, metric[p])
    if active == room and best > worst and room > 1:
        return active  # no path turned over is as likely as the last of those kept
    kept = _split_free(llr, base, size, active, room, lane, row, metric, doubted, work)
    if _follow(work[7], active, kept, lane, work[5]) or work[8][:kept].any():
        _take_places(out, work[10], kept, work)
    return kept


@uncounted
def _repeated_node(
    llr: Floats,
    base: int,
    out: Packed,
    active: int,
    room: int,
    lane: Lanes,
    row: int,
    metric: Floats,
    doubted: Flags,
    work: Work,
) -> int:
    """A node of one message bit at its end: all zeros or all ones."""
    flipped, parent, chosen, turned = work[0], work[2], work[3], work[4]
    size = out.size
    for p in range(active):
        at = base + int(lane[p, row]) * size
        zeros, ones = _costs(llr, at, size)
        chosen[p] = 1 if ones < zeros else 0
        flipped[p] = metric[p] + max(zeros, ones)
        metric[p] += min(zeros, ones)
    kept = _choose(metric, flipped, active, room, parent, turned, doubted)
    _follow(parent, active, kept, lane, work[5])
    bits = np.uint32(0)
    for p in range(kept):
        bits |= np.uint32(chosen[parent[p]] ^ np.int64(turned[p])) << np.uint32(p)
    out[:] = bits
    return kept


@uncounted
def _halve(
    llr: Floats, room: int, bits: NDArray[np.uint32], second: bool, active: int, lane: Lanes, stage: int
) -> None:
    """From the node at `stage` to its first or second half, for every path."""
    half = np.int64(1) << (stage - 1)
    base, under = room * (2 * half - 1), room * (half - 1)
    for p in range(active):
        above, below = base + np.int64(lane[p, 3 * stage + LLR]) * 2 * half, under + p * half
        if second:
            _second_half(llr, above, below, half, bits, half - 1, np.int64(lane[p, 3 * stage - 3]))
        else:
            _first_half(llr, above, below, half)
    for p in range(active):
        lane[p, 3 * stage - 3 + LLR] = p


@uncounted
def _walk(
    plan: NDArray[np.int64],
    room: int,
    llr: Floats,
    bits: NDArray[np.uint32],
    lane: Lanes,
    metric: Floats,
    doubted: Flags,
    work: Work,
) -> int:
    """Runs the plan for one word; returns how many paths there are at its end."""
    active: int = np.int64(1)  # type: ignore[assignment]  # a plain 1 would have kernels compiled twice
    for step in range(plan.shape[0]):
        action, stage, side = plan[step, 0], plan[step, 1], plan[step, 2]
        size = 1 << stage
        half = size >> 1
        base = room * (size - 1)
        if action <= SECOND_HALF:
            _halve(llr, room, bits, action == SECOND_HALF, active, lane, stage)
            continue
        out = bits[side, size - 1 : 2 * size - 1]
        row = 3 * stage + LLR
        if action == COMBINE:
            first, second = bits[0, half - 1 : size - 1], bits[1, half - 1 : size - 1]
            _combine(first, second, lane, 3 * stage - 3, active, out, work[6])
        elif action == FROZEN:
            out[:] = 0
            for p in range(active):
                at = base + np.int64(lane[p, row]) * size
                metric[p] += _costs(llr, at, size)[0]
        elif action == REPEATED:
            active = _repeated_node(llr, base, out, active, room, lane, row, metric, doubted, work)
        else:
            active = _free_node(llr, base, out, active, room, lane, row, metric, doubted, work)
        for p in range(active):
            lane[p, 3 * stage + side] = p
    return active


@uncounted
def _is_right(bits: Packed, lane: np.uint32, places: Slots, columns: NDArray[np.uint64]) -> bool:
    """Whether a path satisfies its CRC."""
    total = np.uint64(0)
    for i in range(places.size):
        total ^= columns[i] & (np.uint64(0) - np.uint64((bits[places[i]] >> lane) & np.uint32(1)))
    return bool(total == np.uint64(0))


@kernel
def decode_list(
    batch: NDArray[np.float32],
    plan: NDArray[np.int64],
    room: int,
    places: Slots,
    columns: NDArray[np.uint64],
    message: NDArray[np.uint8],
    decided: NDArray[np.bool_],
) -> None:
    """Decodes log-likelihood ratios (words, 2^m): the bits at `places` of the likeliest path with a valid checksum.

    The checksum is the exclusive or of `columns` over the bits that are 1 and must be 0. decided is false where no path
    has a right one, or where another path was as likely.
    """
    words, length = batch.shape
    top = 0
    while 1 << top < length:
        top += 1
    llr = np.empty(room * 2 * length, np.float32)
    bits = np.empty((2, 2 * length), np.uint32)
    rows = -(-3 * (top + 1) // 8) * 8  # whole numbers of 64 bits
    lane, spare = np.zeros((room, rows), np.uint8), np.empty((room, rows), np.uint8)
    metric, doubted = np.empty(room, np.float32), np.empty(room, np.uint8)
    flipped, least = np.empty(room, np.float32), np.empty((room, room), np.float32)
    numbers, turned = np.empty((5, room), np.int64), np.empty(room, np.uint8)
    places_of = np.empty((room, room), np.int64)
    node, keys = np.empty(length, np.uint32), np.empty(room, np.uint64)
    first, second, third, fourth, fifth = numbers[0], numbers[1], numbers[2], numbers[3], numbers[4]
    work = (flipped, least, first, second, turned, spare, node, third, fourth, fifth, places_of, keys)
    root = room * (length - 1)
    for word in range(words):
        llr[root : root + length] = batch[word]
        lane[:, :] = 0
        metric[0] = 0
        doubted[0] = 0
        active = _walk(plan, room, llr, bits, lane, metric, doubted, work)
        _transform_word(bits[1, length - 1 : 2 * length - 1])  # the inputs of all paths at once
        best, passed, rivals = np.argmin(metric[:active]), False, False
        for p in np.argsort(metric[:active]):
            if passed and metric[p] > metric[best] * (np.float32(1) + SAME):
                break  # those that are left are less likely, whatever their checksum
            if _is_right(bits[1, length - 1 :], np.uint32(lane[p, 3 * top + 1]), places, columns):
                rivals |= passed
                best, passed = best if passed else p, True
        at = np.uint32(lane[best, 3 * top + 1])
        for i in range(places.size):
            message[word, i] = (bits[1, length - 1 + places[i]] >> at) & np.uint32(1)
        decided[word] = passed and not rivals and doubted[best] == 0
