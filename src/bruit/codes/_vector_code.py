"""Builds LLVM vector code for numba kernels, where LLVM finds no vectors in a loop by itself.

Vectors may be longer than the processor's registers: LLVM cuts them up for whatever processor it compiles for. numba
notices no change of this file: delete the caches of the kernels that use it (`__pycache__/*.nbi`).
"""

from collections.abc import Callable
from typing import Any, TypeAlias

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import cgutils, config
from numba.extending import intrinsic
from numpy.typing import DTypeLike, NDArray

CACHE_LINE = 64  # bytes; a vector that straddles two lines is read twice

# What numba and llvmlite hand over, neither of which says its types:
Builder: TypeAlias = Any
Called: TypeAlias = Any
Context: TypeAlias = Any
Signature: TypeAlias = Any
Type: TypeAlias = Any
Typing: TypeAlias = Any
Value: TypeAlias = Any
Values: TypeAlias = Any
Instruction: TypeAlias = tuple[Any, Callable[..., Any]]


def processor_has(*features: str) -> bool:
    """Whether numba compiles for a processor that has all of these features, by LLVM's names for them.

    That is this one, unless the settings of numba (NUMBA_CPU_FEATURES, NUMBA_ENABLE_AVX) say otherwise.
    """
    settings = vars(config)
    if settings["CPU_FEATURES"] is not None:
        return {f"+{feature}" for feature in features} <= set(settings["CPU_FEATURES"].split(","))
    if not settings["ENABLE_AVX"] and any(feature.startswith("avx") for feature in features):
        return False
    try:
        found = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM does not know how to ask this one
        return False
    return all(found.get(feature, False) for feature in features)


def instruction(function: Callable[..., Instruction]) -> Called:
    """A numba intrinsic from a function that builds LLVM code (its first parameter is numba's typing context)."""
    return intrinsic(function)


def aligned_empty(shape: tuple[int, ...], kind: DTypeLike) -> NDArray[Any]:
    """An uninitialised array whose first element starts a cache line."""
    size = int(np.prod(shape)) * np.dtype(kind).itemsize
    room = np.empty(size + CACHE_LINE, np.uint8)
    first = -room.ctypes.data % CACHE_LINE
    return room[first : first + size].view(kind).reshape(shape)


def array_pointer(context: Context, builder: Builder, kind: Type, array: Value, element: Type) -> Value:
    """The address of an array's first element, as a pointer to `element`."""
    return builder.bitcast(context.make_array(kind)(context, builder, array).data, element.as_pointer())


def load(builder: Builder, pointer: Value, index: Value) -> Value:
    """pointer[index], at any alignment."""
    value = builder.load(builder.gep(pointer, [index]))
    value.align = 1
    return value


def store(builder: Builder, value: Value, pointer: Value, index: Value) -> None:
    """pointer[index] = value, at any alignment."""
    builder.store(value, builder.gep(pointer, [index])).align = 1


def load_vector(builder: Builder, kind: Type, pointer: Value, index: Value) -> Value:
    """The elements of an array from pointer[index] on, as a vector."""
    return load(builder, builder.bitcast(builder.gep(pointer, [index]), kind.as_pointer()), ir.Constant(index.type, 0))


def store_vector(builder: Builder, vector: Value, pointer: Value, index: Value) -> None:
    """Puts the elements of a vector into an array from pointer[index] on."""
    place = builder.bitcast(builder.gep(pointer, [index]), vector.type.as_pointer())
    store(builder, vector, place, ir.Constant(index.type, 0))


def constant(kind: Type, number: float) -> Value:
    """A number in every lane, or alone where `kind` is no vector."""
    return ir.Constant(kind, [number] * kind.count if isinstance(kind, ir.VectorType) else number)


def broadcast(builder: Builder, scalar: Value, lanes: int) -> Value:
    """A scalar in every lane."""
    empty = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    first = builder.insert_element(empty, scalar, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, empty, ir.Constant(ir.VectorType(ir.IntType(32), lanes), [0] * lanes))


def call(builder: Builder, name: str, *vectors: Value) -> Value:
    """LLVM's own function of vectors of one kind: "smin", "umax", "sadd.sat", …"""
    kind = vectors[0].type
    function = ir.FunctionType(kind, [kind] * len(vectors))
    full_name = f"llvm.{name}.v{kind.count}i{kind.element.width}"
    return builder.call(cgutils.get_or_insert_function(builder.module, function, full_name), vectors)


def magnitude(builder: Builder, vector: Value) -> Value:
    """|vector|, lane by lane; the least number there is stays as it is."""
    return call(builder, "umin", vector, builder.neg(vector))


def for_blocks(builder: Builder, count: Value, kind: Type, body: Callable[[Type, Value], None]) -> None:
    """Runs body(kind, index) for vectors of this kind while they fit below count, then body(element, index)."""
    lanes = ir.Constant(count.type, kind.count)
    whole = builder.mul(builder.udiv(count, lanes), lanes)
    with cgutils.for_range_slice(builder, ir.Constant(count.type, 0), whole, lanes, inc=True) as (index, _):
        body(kind, index)
    with cgutils.for_range_slice(builder, whole, count, ir.Constant(count.type, 1), inc=True) as (index, _):
        body(kind.element, index)


def transposed(builder: Builder, rows: list[Value]) -> list[Value]:
    """The columns of a matrix, joined and cut to the length of its rows; there are a power of two of these.

    Each turn interleaves the first half of the vectors with the second; after log2(rows) turns all stand in order.
    """
    lanes = rows[0].type.count
    order = [place for i in range(lanes) for place in (i, i + lanes)]
    masks = [ir.Constant(ir.VectorType(ir.IntType(32), lanes), part) for part in (order[:lanes], order[lanes:])]
    half = len(rows) // 2
    for _ in range(half.bit_length()):
        pairs = zip(rows[:half], rows[half:], strict=True)
        rows = [builder.shuffle_vector(low, high, mask) for low, high in pairs for mask in masks]
    return rows
