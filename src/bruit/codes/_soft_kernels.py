"""Quantises and transposes log-likelihood ratios for kernels that decode many words side by side, and back."""
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
    constant,
    for_blocks,
    instruction,
    load,
    load_vector,
    store_vector,
    transposed,
)

TILE = 128  # a tile of so many bits of STRIP words stays in the first-level cache while it is turned
STRIP = 32  # words that are turned together
BLOCK = 16  # bits of them that are turned at a time

INT64, BYTE = ir.IntType(64), ir.IntType(8)
FLOATS = ir.VectorType(ir.FloatType(), 64)
PART, WORDS, BYTES = (
    ir.VectorType(ir.IntType(width), count) for width, count in ((16, BLOCK), (16, STRIP), (8, STRIP))
)


@instruction
def _turn_numbers(
    typing: Typing, tile: Type, first: Type, place: Type, at: Type, out: Type, width: Type, word: Type
) -> Instruction:
    """out[place[at + c], word + w] = tile[w, first + c] for STRIP words w and BLOCK columns c; out is `width` wide."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        source, target = (array_pointer(context, builder, signature.args[i], values[i], ir.IntType(16)) for i in (0, 4))
        places = array_pointer(context, builder, signature.args[2], values[2], INT64)
        rows = [
            load_vector(builder, PART, source, builder.add(values[1], ir.Constant(INT64, TILE * w)))
            for w in range(STRIP)
        ]
        each = STRIP // BLOCK
        for i, half in enumerate(transposed(builder, rows)):
            row = load(builder, places, builder.add(values[3], ir.Constant(INT64, i // each)))
            column = builder.add(values[6], ir.Constant(INT64, i % each * BLOCK))
            store_vector(builder, half, target, builder.add(builder.mul(row, values[5]), column))
        return context.get_dummy_value()

    return types.void(tile, types.int64, place, types.int64, out, types.int64, types.int64), generate


@instruction
def _turn_signs(
    typing: Typing, total: Type, width: Type, place: Type, at: Type, out: Type, length: Type, word: Type
) -> Instruction:
    """out[word + w, at + i] = (total[place[at + i], word + w] < 0) for STRIP words w and as many places i.

    total is `width` wide and out is `length` wide.
    """

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        source = array_pointer(context, builder, signature.args[0], values[0], ir.IntType(16))
        places = array_pointer(context, builder, signature.args[2], values[2], INT64)
        target = array_pointer(context, builder, signature.args[4], values[4], ir.IntType(8))
        rows = []
        for i in range(STRIP):
            row = load(builder, places, builder.add(values[3], ir.Constant(INT64, i)))
            numbers = load_vector(builder, WORDS, source, builder.add(builder.mul(row, values[1]), values[6]))
            rows.append(builder.zext(builder.icmp_signed("<", numbers, constant(WORDS, 0)), BYTES))
        for w, column in enumerate(transposed(builder, rows)):
            row = builder.add(values[6], ir.Constant(INT64, w))
            store_vector(builder, column, target, builder.add(builder.mul(row, values[5]), values[3]))
        return context.get_dummy_value()

    numbers = types.int64
    return types.void(total, numbers, place, numbers, out, numbers, numbers), generate


@kernel
def _round(
    values: NDArray[np.float32],
    factor: np.float32,
    limit: np.float32,
    half: np.float32,
    low: np.int16,
    out: NDArray[np.int16],
) -> None:
    for i in range(values.size):
        out[i] = np.int16(np.int32(max(-limit, min(limit, values[i] * factor)) + half)) - low


@kernel
def quantise(
    values: NDArray[np.float32],
    factors: NDArray[np.float32],
    place: NDArray[np.int64],
    limit: np.float32,
    out: NDArray[np.int16],
) -> None:
    """out[place[i], word] = values[word, i] · factors[word], rounded and clipped to ±limit.

    The width of `out` is a multiple of STRIP; what it has beyond the last word is overwritten up to the next multiple.
    """
    words, length = values.shape
    half = np.float32(limit + np.float32(0.5))
    low = np.int16(limit)
    tile = np.zeros((STRIP, TILE), np.int16)
    for first in range(0, words, STRIP):
        strip = min(STRIP, words - first)
        for start in range(0, length, TILE):
            size = min(TILE, length - start)
            for w in range(strip):
                _round(values[first + w, start : start + size], factors[first + w], limit, half, low, tile[w])
            whole = size - size % BLOCK
            for i in range(0, whole, BLOCK):
                _turn_numbers(tile, i, place, start + i, out, out.shape[1], first)
            for i in range(whole, size):
                for w in range(strip):
                    out[place[start + i], first + w] = tile[w, i]


@kernel
def hard_bits(total: NDArray[np.int16], place: NDArray[np.int64], out: NDArray[np.uint8]) -> None:
    """out[word, i] = 1 where total[place[i], word] is negative, else 0; the width of `total` is a multiple of STRIP."""
    words, length = out.shape
    for first in range(0, words, STRIP):
        strip = min(STRIP, words - first)
        whole = length - length % STRIP if strip == STRIP else 0
        for start in range(0, whole, STRIP):
            _turn_signs(total, total.shape[1], place, start, out, length, first)
        for i in range(whole, length):
            for w in range(strip):
                out[first + w, i] = total[place[i], first + w] < 0


@instruction
def _sum_of_squares(typing: Typing, values: Type, at: Type, count: Type) -> Instruction:
    """Σ values[at + i]² for i below count, in 64 sums side by side and one for the rest."""

    def generate(context: Context, builder: Builder, signature: Signature, values: Values) -> Value:
        start = array_pointer(context, builder, signature.args[0], values[0], ir.FloatType())
        slots = {kind: cgutils.alloca_once(builder, kind) for kind in (FLOATS, FLOATS.element)}
        for kind, slot in slots.items():
            builder.store(constant(kind, 0.0), slot)

        def add(kind: Type, index: Value) -> None:
            value = load_vector(builder, kind, start, builder.add(values[1], index))
            builder.store(builder.fadd(builder.load(slots[kind]), builder.fmul(value, value)), slots[kind])

        for_blocks(builder, values[2], FLOATS, add)
        reduced = ir.FunctionType(FLOATS.element, [FLOATS.element, FLOATS])
        name = f"llvm.vector.reduce.fadd.v{FLOATS.count}f32"
        function = cgutils.get_or_insert_function(builder.module, reduced, name)
        return builder.call(function, [builder.load(slot) for slot in reversed(slots.values())])

    return types.float32(values, types.int64, types.int64), generate


@kernel
def scale_words(values: NDArray[np.float32], level: np.float32, out: NDArray[np.float32]) -> bool:
    """The factor that scales each word's root mean square to `level`; 0 where quantising would lose most of the word.

    Returns whether there is such a word: less than half of what is not 0 reaches 1 / out[word].
    """
    words, length = values.shape
    faint = False
    for w in range(words):
        size = np.sqrt(_sum_of_squares(values, w * length, length) / np.float32(length))
        grain = size / level
        clear, heard = np.int32(0), np.int32(length)
        for i in range(length):
            clear += np.int32(abs(values[w, i]) >= grain)
        if 2 * clear < heard:  # zeros are not heard
            for i in range(length):
                heard -= np.int32(values[w, i] == 0)
        lost = 2 * clear < heard or not 0 < size < np.inf
        out[w] = np.float32(0) if lost else level / size
        if lost:
            faint = True
    return faint


@kernel
def largest_size(patterns: NDArray[np.int32]) -> np.int32:
    """The largest size of float32 numbers given by their bit patterns, as a pattern: that of NaN is above all."""
    most = np.int32(0)
    for i in range(patterns.size):
        size = np.int32(patterns[i] & np.int32(0x7FFFFFFF))
        most = size if size > most else most
    return most


@kernel
def are_two_valued(values: NDArray[np.float32], out: NDArray[np.bool_]) -> None:
    """out[word] says whether all values of the word that are not 0 have one size."""
    words, length = values.shape
    for w in range(words):
        size = np.float32(0)
        alike = True
        for i in range(length):
            here = abs(values[w, i])
            if here == 0:
                continue
            if size == 0:
                size = here
            if here != size:
                alike = False
                break
        out[w] = alike
