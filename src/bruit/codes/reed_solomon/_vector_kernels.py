"""Reed–Solomon decoding over GF(256) with GFNI vector instructions, 32 field products at a time.

GFNI multiplies bytes in the field of x^8 + x^4 + x^3 + x + 1 and applies any 8 × 8 matrix of bits to bytes. Every field
of 256 elements is a change of basis away: words are brought into that field, decoded there, and corrections brought
back. Everything stands in one array, `memory`, at the places below, so that no array is counted on the way; all but
the words that come and go is in that field:
- MATRICES, CHECKS: what `_syndromes` multiplies parts of a word by;
- POINTS: row j holds α^(j·c) for c = 0 … 255: a polynomial's values at all points are Σ coefficient[j] · row j;
- EXP, INVERSE, SCALE, HIGH_SCALE, BACK: tables of 256, see `vector_tables`;
- WORD: a received word of 255 bytes, highest degree first, zeros before it where it is shorter; SYNDROMES: 32 of it;
  FLAGS: what is erased;
- REVERSED: the syndromes from the last to the first, and zeros: S_(i−j) for j = 0, 1, … stands from 31 − i on;
- LOCATOR, SPARE: 64 coefficients, lowest first; OLD: the same, after 64 zeros;
- EVEN, ODD: values at all points; ROOTS, OMEGA, VALUES: of up to 32 errors.
The algorithms are those of `_kernels`, whose results tests hold these to.
"""
# ruff: noqa: ARG001 - the parameters of an instruction are read through its signature

from collections.abc import Callable
from functools import partial, reduce

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numpy.typing import NDArray

from bruit._jit import kernel
from bruit.codes._vector_code import (
    CACHE_LINE,
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
    instruction,
    load,
    load_vector,
    processor_has,
    store,
    store_vector,
)

LANES = 32
LONG_REGISTERS = processor_has("gfni", "avx512bw")
FAILED = -1
AT_ONCE = 8  # steps of the key equation before asking whether it is solved
ROWS = 34  # coefficients of a locator with 32 erasures, and one more to make them even
LONGEST = 255
PARTS, PART = 5, 51  # a word of 255 symbols in parts that fit into 64 lanes
MATRICES, CHECKS = 0, 256
POINTS = CHECKS + 2 * LANES * LANES
EXP = POINTS + 256 * ROWS
INVERSE, SCALE, HIGH_SCALE, BACK, WORD = (EXP + 256 * i for i in range(1, 6))
TABLES = WORD  # what stands before is given
SYNDROMES = WORD + 256
FLAGS = SYNDROMES + 2 * LANES
REVERSED = FLAGS + 256
LOCATOR, SPARE, OLD = REVERSED + 128, REVERSED + 256, REVERSED + 320
EVEN, ODD = OLD + 192, OLD + 448
ROOTS, OMEGA, VALUES, OTHERS, LAST = (ODD + 256 + 64 * i for i in range(5))
SIZE = LAST + 64

BLOCK, TERMS = (ir.VectorType(ir.IntType(8), lanes) for lanes in (LANES, 2 * LANES))
PAIRS = ir.VectorType(ir.IntType(16), LANES)
INDEX = types.int64

Bytes = NDArray[np.uint8]


def _place(context: Context, builder: Builder, signature: Signature, values: Values, offset: Value) -> Value:
    """The address of a byte of the memory, the first argument."""
    data = context.make_array(signature.args[0])(context, builder, values[0]).data
    return builder.gep(builder.bitcast(data, ir.IntType(8).as_pointer()), [offset])


def _load(builder: Builder, place: Value) -> Value:
    value = builder.load(builder.bitcast(place, BLOCK.as_pointer()))
    value.align = 1
    return value


def _store(builder: Builder, value: Value, place: Value) -> None:
    builder.store(value, builder.bitcast(place, BLOCK.as_pointer())).align = 1


def _halves(builder: Builder, vector: Value) -> list[Value]:
    lanes = [list(range(first, first + LANES)) for first in (0, LANES)]
    masks = [ir.Constant(ir.VectorType(ir.IntType(32), LANES), part) for part in lanes]
    return [builder.shuffle_vector(vector, vector, mask) for mask in masks]


def _field_operation(builder: Builder, name: str, left: Value, right: Value, *options: Value) -> Value:
    """An instruction of GFNI on 32 bytes, or on 64, half by half where the processor has no registers of 64."""
    lanes = left.type.count
    if lanes > LANES and not LONG_REGISTERS:
        pairs = zip(_halves(builder, left), _halves(builder, right), strict=True)
        done = [_field_operation(builder, name, *pair, *options) for pair in pairs]
        return builder.shuffle_vector(*done, ir.Constant(ir.VectorType(ir.IntType(32), lanes), list(range(lanes))))
    kind = ir.FunctionType(left.type, [left.type, right.type, *(option.type for option in options)])
    function = cgutils.get_or_insert_function(builder.module, kind, f"llvm.x86.{name}.{8 * lanes}")
    return builder.call(function, [left, right, *options])


def _product(builder: Builder, left: Value, right: Value) -> Value:
    return _field_operation(builder, "vgf2p8mulb", left, right)


def _image(builder: Builder, vector: Value, matrix: Value) -> Value:
    """A matrix of bits, given as a number of 64, applied to every byte."""
    every = builder.bitcast(broadcast(builder, matrix, vector.type.count // 8), vector.type)
    return _field_operation(builder, "vgf2p8affineqb", vector, every, ir.Constant(ir.IntType(8), 0))


def _fold(builder: Builder, block: Value) -> Value:
    """The exclusive or of all lanes."""
    quads = builder.bitcast(block, ir.VectorType(ir.IntType(64), 4))
    first, second, third, fourth = (
        builder.extract_element(quads, ir.Constant(ir.IntType(32), quad)) for quad in range(4)
    )
    value = builder.xor(builder.xor(first, second), builder.xor(third, fourth))
    for shift in (32, 16, 8):
        value = builder.xor(value, builder.lshr(value, ir.Constant(ir.IntType(64), shift)))
    return builder.trunc(value, ir.IntType(8))


def _sum_of_products(
    builder: Builder, count: Value, left: Callable[[Value], Value], right: Callable[[Value], Value]
) -> Value:
    """Σ left(i) · right(i) over i below count, lane by lane, in four sums that do not wait for one another."""
    sums = [cgutils.alloca_once_value(builder, constant(TERMS, 0)) for _ in range(4)]
    for total in sums:
        builder.store(constant(TERMS, 0), total)
    four = ir.Constant(count.type, 4)
    whole = builder.mul(builder.udiv(count, four), four)
    with cgutils.for_range_slice(builder, ir.Constant(count.type, 0), whole, four, inc=True) as (i, _):
        for lane, total in enumerate(sums):
            at = builder.add(i, ir.Constant(count.type, lane))
            builder.store(builder.xor(builder.load(total), _product(builder, left(at), right(at))), total)
    with cgutils.for_range_slice(builder, whole, count, ir.Constant(count.type, 1), inc=True) as (i, _):
        builder.store(builder.xor(builder.load(sums[0]), _product(builder, left(i), right(i))), sums[0])
    first, second, third, fourth = (builder.load(total) for total in sums)
    return builder.xor(builder.xor(first, second), builder.xor(third, fourth))


@instruction
def _sum_rows(
    typing: Typing, memory: Type, factors: Type, step: Type, count: Type, rows: Type, width: Type, out: Type
) -> Instruction:
    """The 64 bytes at `out` become Σ m[factors + step·i] · (the 64 at rows + width·i) for i below count."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        base = _place(context, builder, signature, values, values[1])
        table, zero = _place(context, builder, signature, values, values[4]), ir.Constant(ir.IntType(64), 0)
        total = _sum_of_products(
            builder,
            values[3],
            lambda i: broadcast(builder, builder.load(builder.gep(base, [builder.mul(i, values[2])])), TERMS.count),
            lambda i: load_vector(builder, TERMS, table, builder.mul(i, values[5])),
        )
        store_vector(builder, total, _place(context, builder, signature, values, values[6]), zero)
        return context.get_dummy_value()

    return types.void(memory, INDEX, INDEX, INDEX, INDEX, INDEX, INDEX), generate


@instruction
def _sum_of_pairs(typing: Typing, memory: Type, left: Type, right: Type) -> Instruction:
    """Σ m[left + j] · m[right + j] for j below 64."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        first, second = (_place(context, builder, signature, values, values[i]) for i in (1, 2))
        next_block = [ir.Constant(ir.IntType(64), LANES)]
        low = _product(builder, _load(builder, first), _load(builder, second))
        first, second = builder.gep(first, next_block), builder.gep(second, next_block)
        high = _product(builder, _load(builder, first), _load(builder, second))
        return _fold(builder, builder.xor(low, high))

    return types.uint8(memory, INDEX, INDEX), generate


@instruction
def _blend(typing: Typing, memory: Type, target: Type, own: Type, source: Type, factor: Type) -> Instruction:
    """m[target + j] = own · m[target + j] + factor · m[source + j] for j below 64."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        here, other = (_place(context, builder, signature, values, values[i]) for i in (1, 3))
        first, second = broadcast(builder, values[2], LANES), broadcast(builder, values[4], LANES)
        next_block = [ir.Constant(ir.IntType(64), LANES)]
        for _ in range(2):
            kept = _product(builder, first, _load(builder, here))
            added = _product(builder, second, _load(builder, other))
            _store(builder, builder.xor(kept, added), here)
            here, other = builder.gep(here, next_block), builder.gep(other, next_block)
        return context.get_dummy_value()

    return types.void(memory, INDEX, types.uint8, INDEX, types.uint8), generate


def _fold_together(builder: Builder, first: Value, second: Value, size: int) -> Value:
    """Of every 2 · size lanes: the lower half the sum of both halves of `first`, the upper half that of `second`."""
    lanes = range(first.type.count)
    kept = [lane + (first.type.count if lane & size else 0) for lane in lanes]
    swapped = [(lane ^ size) + (first.type.count if lane & size else 0) for lane in lanes]
    masks = [ir.Constant(ir.VectorType(ir.IntType(32), first.type.count), order) for order in (kept, swapped)]
    return builder.xor(*(builder.shuffle_vector(first, second, mask) for mask in masks))


def _sums_of_lanes(builder: Builder, vectors: Callable[[int], Value], order: list[int]) -> Value:
    """The sum of all lanes of each vector, in order; two lanes of each are still apart at the end."""
    if len(order) == 1:
        return vectors(order[0])
    even, odd = (_sums_of_lanes(builder, vectors, order[first::2]) for first in range(2))
    return _fold_together(builder, even, odd, 2 * LANES // len(order))


@instruction
def _syndromes(typing: Typing, words: Type, at: Type, memory: Type) -> Instruction:
    """SYNDROMES become Σ word[q] · β^(254 − q) for 32 powers β of α, of the word of 255 from words[at] on.

    With q = 51a + b it is Σ_b β^(50 − b) · Σ_a β^(51(4 − a)) · word[51a + b]. The inner sums stand in the lanes b, and
    there are five, for β^51 has order five: MATRICES holds their factors, each with the change of basis in it, for
    every fifth β and every a. CHECKS holds a row of β^(50 − b) for every β, zero from b = 51 on.
    """

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        int64 = ir.IntType(64)
        base = array_pointer(context, builder, signature.args[0], values[0], ir.IntType(8))
        table, rows, target = (
            array_pointer(context, builder, signature.args[2], values[2], kind) for kind in (int64, TERMS, BLOCK)
        )
        parts = [load_vector(builder, TERMS, base, _further(builder, values[1], PART * a)) for a in range(PARTS - 1)]
        last = load_vector(builder, TERMS, base, _further(builder, values[1], LONGEST - TERMS.count))
        late = [min(LONGEST - PART + lane, LONGEST - 1) - (LONGEST - TERMS.count) for lane in range(TERMS.count)]
        parts.append(builder.shuffle_vector(last, last, ir.Constant(ir.VectorType(ir.IntType(32), 64), late)))
        inner = []
        for residue in range(PARTS):
            matrices = [load(builder, table, ir.Constant(int64, PARTS * residue + a)) for a in range(PARTS)]
            inner.append(reduce(builder.xor, map(partial(_image, builder), parts, matrices)))

        def weighted(root: int) -> Value:
            row = load(builder, rows, ir.Constant(int64, CHECKS // TERMS.count + root))
            return _product(builder, inner[root % PARTS], row)

        pairs = builder.bitcast(_sums_of_lanes(builder, weighted, list(range(LANES))), PAIRS)
        sums = builder.trunc(builder.xor(pairs, builder.lshr(pairs, constant(PAIRS, 8))), BLOCK)
        store(builder, sums, target, ir.Constant(int64, SYNDROMES // LANES))
        return context.get_dummy_value()

    return types.void(words, INDEX, memory), generate


def _further(builder: Builder, at: Value, places: int) -> Value:
    return builder.add(at, ir.Constant(at.type, places))


@instruction
def _key_equation_steps(typing: Typing, memory: Type, count: Type, ahead: Type) -> Instruction:
    """Runs `count` steps on the 64 terms at SPARE, OTHERS and LAST; returns how far ahead the locator's length is then.

    Every step reads its discrepancy off the first lane instead of adding one up.
    [Sarwate & Shanbhag 2001, algorithm RiBM]
    """

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        int64, mask = ir.IntType(64), ir.VectorType(ir.IntType(32), TERMS.count)
        rows = array_pointer(context, builder, signature.args[0], values[0], TERMS)
        places = [ir.Constant(int64, at // TERMS.count) for at in (SPARE, OTHERS, LAST)]
        terms, others, last = slots = [cgutils.alloca_once(builder, TERMS) for _ in places]
        for slot, place in zip(slots, places, strict=True):
            builder.store(load(builder, rows, place), slot)
        lead = cgutils.alloca_once(builder, int64)
        builder.store(values[2], lead)
        with cgutils.for_range(builder, values[1]):
            now, other, k = builder.load(terms), builder.load(others), builder.load(lead)
            first = builder.shuffle_vector(now, now, ir.Constant(mask, [0] * TERMS.count))
            moved = builder.shuffle_vector(now, constant(TERMS, 0), ir.Constant(mask, list(range(1, TERMS.count + 1))))
            kept, taken = _product(builder, builder.load(last), moved), _product(builder, first, other)
            builder.store(builder.xor(kept, taken), terms)
            byte = builder.extract_element(now, ir.Constant(ir.IntType(32), 0))
            wrong = builder.icmp_unsigned("!=", byte, ir.Constant(ir.IntType(8), 0))
            change = builder.and_(wrong, builder.icmp_signed(">=", k, ir.Constant(int64, 0)))
            builder.store(builder.select(change, moved, other), others)
            builder.store(builder.select(change, first, builder.load(last)), last)
            longer, same = builder.not_(k), builder.add(k, ir.Constant(int64, 1))
            builder.store(builder.select(change, longer, same), lead)
        for slot, place in zip(slots, places, strict=True):
            store(builder, builder.load(slot), rows, place)
        return builder.load(lead)

    return types.int64(memory, INDEX, INDEX), generate


@instruction
def _multiply(typing: Typing, memory: Type, target: Type, factors: Type) -> Instruction:
    """m[target + j] = m[target + j] · m[factors + j] for j below 32."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        place, other = (_place(context, builder, signature, values, values[i]) for i in (1, 2))
        _store(builder, _product(builder, _load(builder, place), _load(builder, other)), place)
        return context.get_dummy_value()

    return types.void(memory, INDEX, INDEX), generate


@instruction
def _horner(typing: Typing, memory: Type, points: Type, coefficients: Type, count: Type, out: Type) -> Instruction:
    """m[out + p] = Σ m[coefficients + i] · m[points + p]^i over i below count, for 32 points, from the highest down."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        x = _load(builder, _place(context, builder, signature, values, values[1]))
        base = _place(context, builder, signature, values, values[2])
        empty = ir.Constant(BLOCK, [0] * LANES)
        total = cgutils.alloca_once_value(builder, empty)
        builder.store(empty, total)
        with cgutils.for_range(builder, values[3]) as loop:
            last = builder.sub(values[3], ir.Constant(ir.IntType(64), 1))
            coefficient = builder.load(builder.gep(base, [builder.sub(last, loop.index)]))
            product = _product(builder, builder.load(total), x)
            builder.store(builder.xor(product, broadcast(builder, coefficient, LANES)), total)
        _store(builder, builder.load(total), _place(context, builder, signature, values, values[4]))
        return context.get_dummy_value()

    return types.void(memory, INDEX, INDEX, INDEX, INDEX), generate


def _first_lanes(builder: Builder, count: Value, lanes: int) -> Value:
    """A mask of the lanes below count."""
    order = ir.Constant(ir.VectorType(ir.IntType(8), lanes), list(range(lanes)))
    return builder.icmp_unsigned("<", order, broadcast(builder, builder.trunc(count, ir.IntType(8)), lanes))


@instruction
def _copy_first(typing: Typing, memory: Type, target: Type, source: Type, count: Type) -> Instruction:
    """m[target + j] = m[source + j] for j below count, and 0 from there to 63."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        place, other = (
            builder.bitcast(_place(context, builder, signature, values, values[i]), TERMS.as_pointer()) for i in (1, 2)
        )
        zero = ir.Constant(ir.IntType(64), 0)
        copied = load(builder, other, zero)
        kept = builder.select(_first_lanes(builder, values[3], TERMS.count), copied, constant(TERMS, 0))
        store(builder, kept, place, zero)
        return context.get_dummy_value()

    return types.void(memory, INDEX, INDEX, INDEX), generate


@instruction
def _has_any(typing: Typing, memory: Type, at: Type, count: Type) -> Instruction:
    """Whether m[at + j] is not 0 for any j below count, at most 32."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        block = _load(builder, _place(context, builder, signature, values, values[1]))
        wrong = builder.icmp_unsigned("!=", block, constant(BLOCK, 0))
        found = builder.and_(wrong, _first_lanes(builder, values[2], LANES))
        mask = ir.IntType(LANES)
        return builder.icmp_unsigned("!=", builder.bitcast(found, mask), ir.Constant(mask, 0))

    return types.boolean(memory, INDEX, INDEX), generate


@instruction
def _equal_lanes(typing: Typing, memory: Type, left: Type, right: Type) -> Instruction:
    """A number whose bit j, j below 64, says whether m[left + j] and m[right + j] are equal."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        first, second = (
            builder.bitcast(_place(context, builder, signature, values, values[i]), TERMS.as_pointer()) for i in (1, 2)
        )
        zero = ir.Constant(ir.IntType(64), 0)
        equal = builder.icmp_unsigned("==", load(builder, first, zero), load(builder, second, zero))
        return builder.bitcast(equal, ir.IntType(64))

    return types.uint64(memory, INDEX, INDEX), generate


@instruction
def _lowest_one(typing: Typing, number: Type) -> Instruction:
    """The place of the lowest 1 of a number that has one."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        return builder.cttz(values[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.uint64), generate


@kernel
def _erasure_locator(memory: Bytes, n: int) -> int:
    """∏ (1 + X·x) over the erased places; returns their number."""
    for j in range(64):
        memory[LOCATOR + j] = 0
    memory[LOCATOR] = 1
    count = 0
    for i in range(n):
        if memory[FLAGS + i]:
            for j in range(64):
                memory[OLD + 64 + j] = memory[LOCATOR + j]
            _blend(memory, LOCATOR, np.uint8(1), OLD + 63, memory[EXP + n - 1 - i])
            count += 1
    return count


@kernel
def _errata_locator(memory: Bytes, checks: int, erasures: int) -> int:
    """Berlekamp–Massey from the erasure locator, without divisions; returns the degree it should have.

    What stands from OLD + 64 − gap on is the former locator moved up by `gap`, for zeros stand before it. The locator
    comes out times some element, which values are free of, for it stands above and below their fraction.
    """
    for j in range(64):
        memory[OLD + 64 + j] = memory[LOCATOR + j]
    length = erasures
    gap = 1
    last = np.uint8(1)
    for i in range(erasures, checks):
        d = _sum_of_pairs(memory, LOCATOR, REVERSED + 31 - i)
        if d == 0:
            gap += 1
            continue
        if 2 * length <= i + erasures:
            for j in range(64):
                memory[SPARE + j] = memory[LOCATOR + j]
            _blend(memory, LOCATOR, last, OLD + 64 - gap, d)
            for j in range(64):
                memory[OLD + 64 + j] = memory[SPARE + j]
            length = i + 1 - length + erasures
            last = d
            gap = 1
        else:
            _blend(memory, LOCATOR, last, OLD + 64 - gap, d)
            gap += 1
    return length


@kernel
def _error_locator(memory: Bytes, checks: int) -> int:
    """The locator of errors alone for an even number of checks; returns the degree it should have.

    Terms are the syndromes, zeros, and 1 at 3t, where 2t = checks; after so many steps the locator stands from t on.
    Lanes below the steps left hold discrepancies to come: where all are 0, the steps left would only move the terms
    down and multiply them by one element. The first terms are those of S·Λ from x^checks on: where Λ is 0 they are Ω
    divided by x^checks.
    """
    half = checks // 2
    _copy_first(memory, SPARE, SYNDROMES, checks)
    memory[SPARE + 3 * half] = 1
    _copy_first(memory, OTHERS, SYNDROMES, checks)
    memory[OTHERS + 3 * half] = 1
    for j in range(64):
        memory[LAST + j] = 1
    ahead, left = 0, checks
    while left and (left == checks or _has_any(memory, SPARE, left)):
        steps = min(left, AT_ONCE)
        ahead = _key_equation_steps(memory, steps, ahead)
        left -= steps
    _copy_first(memory, LOCATOR, SPARE + left + half, half + 1)
    _copy_first(memory, OMEGA, SPARE + left, half)
    return int((checks - ahead - left) >> 1)


@kernel
def _roots(memory: Bytes, degree: int, points: NDArray[np.int64]) -> int:
    """The powers of α at which even and odd part are equal; returns how many there are, at most one more than asked."""
    found = 0
    for first in range(0, 256, 64):
        equal = _equal_lanes(memory, EVEN + first, ODD + first)
        while equal and found <= degree:
            point = first + _lowest_one(equal)
            equal &= equal - np.uint64(1)
            if point < 255:
                points[found] = point
                found += 1
    return found


@kernel
def _values(memory: Bytes, degree: int, checks: int, points: NDArray[np.int64], errors_alone: bool) -> None:
    """VALUES become what is to be added at each root: Ω(x)·x^b / (x·Λ'(x)), the odd part of Λ being x·Λ'(x)."""
    for r in range(degree):
        memory[ROOTS + r] = memory[EXP + points[r]]
        if not errors_alone:
            memory[OMEGA + r] = _sum_of_pairs(memory, LOCATOR, REVERSED + 31 - r)
    _horner(memory, ROOTS, OMEGA, checks // 2 if errors_alone else degree, VALUES)
    scale = HIGH_SCALE if errors_alone else SCALE
    for r in range(degree):
        memory[ROOTS + r] = memory[INVERSE + np.int64(memory[ODD + points[r]])]
        memory[SPARE + r] = memory[scale + points[r]]
    _multiply(memory, VALUES, ROOTS)
    _multiply(memory, VALUES, SPARE)


@kernel
def _correct(out: Bytes, row: int, use_erasures: bool, checks: int, memory: Bytes, points: NDArray[np.int64]) -> int:
    """Corrects out[row] in place; returns the number of symbols changed, or FAILED with the row untouched."""
    n = out.shape[1]
    errors_alone = not use_erasures and not checks & 1
    erasures = 0
    if errors_alone:
        degree = _error_locator(memory, checks)
    else:
        for j in range(32):
            memory[REVERSED + 31 - j] = memory[SYNDROMES + j] if j < checks else np.uint8(0)
        erasures = _erasure_locator(memory, n if use_erasures else 0)
        degree = _errata_locator(memory, checks, erasures)
    if 2 * degree - erasures > checks or memory[LOCATOR + degree] == 0:
        return FAILED
    for block in range(0, 256, 2 * LANES):
        _sum_rows(memory, LOCATOR, 2, degree // 2 + 1, POINTS + block, 512, EVEN + block)
        _sum_rows(memory, LOCATOR + 1, 2, (degree + 1) // 2, POINTS + 256 + block, 512, ODD + block)
    if _roots(memory, degree, points) != degree:
        return FAILED
    for r in range(degree):
        if points[r] and 255 - points[r] >= n:
            return FAILED
    _values(memory, degree, checks, points, errors_alone)
    changed = 0
    for r in range(degree):
        power = 255 - points[r] if points[r] else 0
        value = memory[BACK + np.int64(memory[VALUES + r])]
        out[row, n - 1 - power] ^= value
        changed += value != 0
    return changed


@kernel
def decode(
    words: Bytes,
    erased: Bytes,
    use_erasures: bool,
    checks: int,
    tables: Bytes,
    status: NDArray[np.int64],
) -> None:
    """Decodes words (rows, n) in place; `status` is the number of changed symbols, or FAILED."""
    rows, n = words.shape
    room, points = np.zeros(SIZE + CACHE_LINE, np.uint8), np.zeros(40, np.int64)
    memory = room[-room.ctypes.data % CACHE_LINE :][:SIZE]
    memory[:TABLES] = tables
    for row in range(rows):
        if n == LONGEST:
            _syndromes(words, row * n, memory)
        else:
            for i in range(n):
                memory[WORD + LONGEST - n + i] = words[row, i]
            _syndromes(memory, WORD, memory)
        status[row] = 0
        if _has_any(memory, SYNDROMES, checks):
            if use_erasures:
                for i in range(n):
                    memory[FLAGS + i] = erased[row, i]
            status[row] = _correct(words, row, use_erasures, checks, memory, points)
