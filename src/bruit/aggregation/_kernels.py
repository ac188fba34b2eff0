"""Prio3 on batches of reports: field, XofTurboShake128, proofs and their queries [draft-irtf-cfrg-vdaf-20].

Layouts. A field element is two words of 64 bits, low first: a pair of scalars, or the last axis of an array […, 2].
Data stand as they are; constants stand in Montgomery form (times 2^128), so that a product of data and constant needs
one reduction. One product serves Field64 and Field128: the reduction holds for every odd modulus below 2^128 - 2^66.
`p` is (low word, high word, -1/p mod 2^64). A sponge `s` is 26 words: 25 lanes and how many bytes (while absorbing) or
words (while squeezing) of the rate are used. `c` is a `circuits.Layout`. Reports are rows; bytes are little-endian.

Nothing branches on a secret except the refused draw of the XOF, whose chance is below 2^-32 (Field64) and 2^-60
(Field128). The machine code was not inspected.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from bruit._jit import kernel

if TYPE_CHECKING:
    from bruit.aggregation.circuits import Layout

U = np.uint64
Words = NDArray[np.uint64]
Bytes = NDArray[np.uint8]
Pair = tuple[np.uint64, np.uint64]
Modulus = tuple[np.uint64, np.uint64, np.uint64]
Scratch = tuple[Words, Words, Words, Words]
Checked = tuple[Words, Bytes, Bytes]
SEED = 32
"""Bytes of a seed, a blind and a joint-randomness part [section 6.2]."""
RATE = 21
"""Words of TurboSHAKE128's rate, 168 bytes [RFC 9861]."""
MEASUREMENT_SHARE, PROOF_SHARE, JOINT_RANDOMNESS, PROVE, QUERY, JOINT_SEED, JOINT_PART = range(1, 8)
"""The usage in the domain separation tag of each call of the XOF [section 7.2, table 12]."""
COUNT, SUM, SUM_VEC, HISTOGRAM, MULTIHOT = range(1, 6)
"""The circuits, by the algorithm identifiers of the draft [section 10]."""
ZERO = (U(0), U(0))
PLAIN_ONE = (U(1), U(0))
ROUNDS = np.array(
    [
        0x000000008000808B,
        0x800000000000008B,
        0x8000000000008089,
        0x8000000000008003,
        0x8000000000008002,
        0x8000000000000080,
        0x000000000000800A,
        0x800000008000000A,
        0x8000000080008081,
        0x8000000000008080,
        0x0000000080000001,
        0x8000000080008008,
    ],
    dtype=U,
)
"""The constants of the last twelve rounds of Keccak-p[1600], of twenty-four [FIPS 202, section 3.2.5]."""


# ------------------------------------------------------------ words and elements
@intrinsic
def _high_word(_context: Any, _a: Any, _b: Any) -> Any:
    """The upper word of the product of two words, which one instruction of the machine gives."""

    def generate(_target: Any, builder: Any, _signature: Any, arguments: Any) -> Any:
        wide = ir.IntType(128)
        a, b = (builder.zext(value, wide) for value in arguments)
        return builder.trunc(builder.lshr(builder.mul(a, b), ir.Constant(wide, 64)), ir.IntType(64))

    return types.uint64(types.uint64, types.uint64), generate


_high: Any = _high_word
"""As kernels call it: without the typing context."""


@kernel
def _less(a: np.uint64, b: np.uint64) -> np.uint64:
    return U(1) if a < b else U(0)


@kernel
def _get(v: Words, i: int) -> Pair:
    return v[i, 0], v[i, 1]


@kernel
def _put(v: Words, i: int, x: Pair) -> None:
    v[i, 0], v[i, 1] = x


@kernel
def _reduce(r0: np.uint64, r1: np.uint64, carry: np.uint64, p: Modulus) -> Pair:
    """The smaller of r and r - p that is not negative, for r = carry 2^128 + r1 2^64 + r0 below 2p."""
    d0 = r0 - p[0]
    borrow = _less(r0, p[0])
    d1 = r1 - p[1]
    under = _less(r1, p[1]) | _less(d1, borrow)
    d1 -= borrow
    keep = U(0) - (under & (carry ^ U(1)))  # all ones where r stays
    return (r0 & keep) | (d0 & ~keep), (r1 & keep) | (d1 & ~keep)


@kernel
def add(a: Pair, b: Pair, p: Modulus) -> Pair:
    """The sum a + b mod p."""
    r0 = a[0] + b[0]
    carry = _less(r0, a[0])
    r1 = a[1] + b[1]
    over = _less(r1, a[1])
    r1 += carry
    return _reduce(r0, r1, over | _less(r1, carry), p)


@kernel
def sub(a: Pair, b: Pair, p: Modulus) -> Pair:
    """The difference a - b mod p."""
    d0 = a[0] - b[0]
    borrow = _less(a[0], b[0])
    d1 = a[1] - b[1]
    under = _less(a[1], b[1]) | _less(d1, borrow)
    d1 -= borrow
    mask = U(0) - under
    r0 = d0 + (p[0] & mask)
    return r0, d1 + (p[1] & mask) + _less(r0, d0)


@kernel
def _reduction_step(t0: np.uint64, t1: np.uint64, t2: np.uint64, p: Modulus) -> tuple[np.uint64, np.uint64, np.uint64]:
    """Montgomery reduction, one step: (t + m p) / 2^64, with m such that the division is exact; t has three words."""
    m = t0 * p[2]
    k = _high(m, p[0]) + _less(U(0), t0)  # the lowest words cancel to 2^64 exactly where t0 is not zero
    low = m * p[1]
    s = t1 + low
    carry = _less(s, low)
    s += k
    u = _high(m, p[1]) + carry + _less(s, k)
    top = t2 + u
    return s, top, _less(top, u)


@kernel
def mul(a: Pair, b: Pair, p: Modulus) -> Pair:
    """Montgomery multiplication, a b / 2^128 mod p: data a, a constant b in Montgomery form [Montgomery 1985]."""
    t0, t1, t2 = U(0), U(0), U(0)
    for w in b:
        # t < 2p: each word adds a w, then the lowest word is cancelled and shifted out.
        low = a[0] * w
        t0 += low
        k = _high(a[0], w) + _less(t0, low)
        low = a[1] * w
        t1 += low
        carry = _less(t1, low)
        t1 += k
        t2 += _high(a[1], w) + carry + _less(t1, k)
        t0, t1, t2 = _reduction_step(t0, t1, t2, p)
    return _reduce(t0, t1, t2, p)


@kernel
def transform(v: Words, roots: Words, step: int, p: Modulus) -> None:
    """Number-theoretic transform: replaces n coefficients by values at the powers of the n-th root of unity.

    v [n, 2]; roots[k step] are those powers.
    """
    n, j = v.shape[0], 0
    for i in range(1, n):  # j is i with its bits reversed
        bit = n >> 1
        while j & bit:
            j ^= bit
            bit >>= 1
        j |= bit
        if i < j:
            x = _get(v, i)
            _put(v, i, _get(v, j))
            _put(v, j, x)
    half = 1
    while half < n:  # every block of 2 half entries is to become a transform of that size
        for start in range(0, n, 2 * half):
            for k in range(start, start + half):
                x = _get(v, k)
                y = mul(_get(v, k + half), _get(roots, (k - start) * (n // (2 * half)) * step), p)
                _put(v, k, add(x, y, p))
                _put(v, k + half, sub(x, y, p))
        half *= 2


# ------------------------------------------------------------ XofTurboShake128
@kernel
def _rotate(x: np.uint64, n: np.uint64) -> np.uint64:
    return (x << n) | (x >> (U(64) - n))


@kernel
def keccak(s: Words) -> None:
    """Applies twelve rounds of Keccak-p[1600] to the lanes s[x + 5 y].

    Unrolled: named words stay in registers. c and d are the columns of theta, b the lanes after rho and pi, then chi.
    """
    a0, a1, a2, a3, a4 = s[0], s[1], s[2], s[3], s[4]
    a5, a6, a7, a8, a9 = s[5], s[6], s[7], s[8], s[9]
    a10, a11, a12, a13, a14 = s[10], s[11], s[12], s[13], s[14]
    a15, a16, a17, a18, a19 = s[15], s[16], s[17], s[18], s[19]
    a20, a21, a22, a23, a24 = s[20], s[21], s[22], s[23], s[24]
    for r in range(ROUNDS.shape[0]):
        c0, c1, c2, c3, c4 = (
            a0 ^ a5 ^ a10 ^ a15 ^ a20,
            a1 ^ a6 ^ a11 ^ a16 ^ a21,
            a2 ^ a7 ^ a12 ^ a17 ^ a22,
            a3 ^ a8 ^ a13 ^ a18 ^ a23,
            a4 ^ a9 ^ a14 ^ a19 ^ a24,
        )
        d0, d1, d2, d3, d4 = (
            c4 ^ _rotate(c1, U(1)),
            c0 ^ _rotate(c2, U(1)),
            c1 ^ _rotate(c3, U(1)),
            c2 ^ _rotate(c4, U(1)),
            c3 ^ _rotate(c0, U(1)),
        )
        b0, b1, b2, b3, b4 = (
            a0 ^ d0,
            _rotate(a6 ^ d1, U(44)),
            _rotate(a12 ^ d2, U(43)),
            _rotate(a18 ^ d3, U(21)),
            _rotate(a24 ^ d4, U(14)),
        )
        b5, b6, b7, b8, b9 = (
            _rotate(a3 ^ d3, U(28)),
            _rotate(a9 ^ d4, U(20)),
            _rotate(a10 ^ d0, U(3)),
            _rotate(a16 ^ d1, U(45)),
            _rotate(a22 ^ d2, U(61)),
        )
        b10, b11, b12, b13, b14 = (
            _rotate(a1 ^ d1, U(1)),
            _rotate(a7 ^ d2, U(6)),
            _rotate(a13 ^ d3, U(25)),
            _rotate(a19 ^ d4, U(8)),
            _rotate(a20 ^ d0, U(18)),
        )
        b15, b16, b17, b18, b19 = (
            _rotate(a4 ^ d4, U(27)),
            _rotate(a5 ^ d0, U(36)),
            _rotate(a11 ^ d1, U(10)),
            _rotate(a17 ^ d2, U(15)),
            _rotate(a23 ^ d3, U(56)),
        )
        b20, b21, b22, b23, b24 = (
            _rotate(a2 ^ d2, U(62)),
            _rotate(a8 ^ d3, U(55)),
            _rotate(a14 ^ d4, U(39)),
            _rotate(a15 ^ d0, U(41)),
            _rotate(a21 ^ d1, U(2)),
        )
        a0, a1, a2, a3, a4 = (
            b0 ^ (~b1 & b2),
            b1 ^ (~b2 & b3),
            b2 ^ (~b3 & b4),
            b3 ^ (~b4 & b0),
            b4 ^ (~b0 & b1),
        )
        a5, a6, a7, a8, a9 = (
            b5 ^ (~b6 & b7),
            b6 ^ (~b7 & b8),
            b7 ^ (~b8 & b9),
            b8 ^ (~b9 & b5),
            b9 ^ (~b5 & b6),
        )
        a10, a11, a12, a13, a14 = (
            b10 ^ (~b11 & b12),
            b11 ^ (~b12 & b13),
            b12 ^ (~b13 & b14),
            b13 ^ (~b14 & b10),
            b14 ^ (~b10 & b11),
        )
        a15, a16, a17, a18, a19 = (
            b15 ^ (~b16 & b17),
            b16 ^ (~b17 & b18),
            b17 ^ (~b18 & b19),
            b18 ^ (~b19 & b15),
            b19 ^ (~b15 & b16),
        )
        a20, a21, a22, a23, a24 = (
            b20 ^ (~b21 & b22),
            b21 ^ (~b22 & b23),
            b22 ^ (~b23 & b24),
            b23 ^ (~b24 & b20),
            b24 ^ (~b20 & b21),
        )
        a0 ^= ROUNDS[r]
    s[0], s[1], s[2], s[3], s[4] = a0, a1, a2, a3, a4
    s[5], s[6], s[7], s[8], s[9] = a5, a6, a7, a8, a9
    s[10], s[11], s[12], s[13], s[14] = a10, a11, a12, a13, a14
    s[15], s[16], s[17], s[18], s[19] = a15, a16, a17, a18, a19
    s[20], s[21], s[22], s[23], s[24] = a20, a21, a22, a23, a24


@kernel
def absorb(s: Words, data: Bytes) -> None:
    """Absorbs bytes into the sponge."""
    at = np.int64(s[25])
    for i in range(data.shape[0]):
        s[at >> 3] ^= U(data[i]) << U((at & 7) * 8)
        at += 1
        if at == 8 * RATE:
            keccak(s)
            at = np.int64(0)
    s[25] = U(at)


@kernel
def absorb_byte(s: Words, byte: int) -> None:
    """Absorbs one byte into the sponge."""
    at = np.int64(s[25])
    s[at >> 3] ^= U(byte) << U((at & 7) * 8)
    at += 1
    if at == 8 * RATE:
        keccak(s)
        at = np.int64(0)
    s[25] = U(at)


@kernel
def begin(s: Words, prefix: Bytes, seed: Bytes) -> None:
    """Starts a sponge with the length-prefixed tag and the seed [section 6.2.1]."""
    s[:] = U(0)
    absorb(s, prefix)
    absorb(s, seed)


@kernel
def finish(s: Words) -> None:
    """Pads the sponge with the domain byte 1 and switches it to squeezing."""
    at = np.int64(s[25])
    s[at >> 3] ^= U(1) << U((at & 7) * 8)
    s[RATE - 1] ^= U(0x80) << U(56)
    keccak(s)
    s[25] = U(0)


@kernel
def _word(s: Words) -> np.uint64:
    if s[25] == U(RATE):
        keccak(s)
        s[25] = U(0)
    s[25] += U(1)
    return U(s[np.int64(s[25]) - 1])


@kernel
def _below(x: Pair, p: Modulus) -> bool:
    return bool(x[1] < p[1] or (x[1] == p[1] and x[0] < p[0]))


@kernel
def squeeze_elements(s: Words, wide: bool, p: Modulus, out: Words) -> None:
    """Fills out[k, 2] with uniform field elements, rejecting draws at or above the modulus [section 6.2]."""
    i = 0
    while i < out.shape[0]:
        low = _word(s)
        x = (low, _word(s) if wide else U(0))
        if _below(x, p):
            _put(out, i, x)
            i += 1


@kernel
def squeeze_seed(s: Words, out: Bytes) -> None:
    """Finishes the sponge and fills out[32] from it."""
    finish(s)
    for i in range(SEED // 8):
        word = _word(s)
        for j in range(8):
            out[8 * i + j] = np.uint8((word >> U(8 * j)) & U(255))


@kernel
def to_bytes(v: Words, wide: bool, out: Bytes) -> None:
    """Writes elements v[k, 2] as 8 or 16 bytes each."""
    size = 16 if wide else 8
    for i in range(v.shape[0]):
        for j in range(size):
            out[i * size + j] = np.uint8((v[i, j >> 3] >> U((j & 7) * 8)) & U(255))


@kernel
def from_bytes(data: Bytes, wide: bool, p: Modulus, out: Words) -> bool:
    """Reads field elements into `out`; False if one is not below the modulus."""
    size, good = (16 if wide else 8), True
    for i in range(out.shape[0]):
        out[i, 0], out[i, 1] = U(0), U(0)
        for j in range(size):
            out[i, j >> 3] |= U(data[i * size + j]) << U((j & 7) * 8)
        good &= _below(_get(out, i), p)
    return good


@kernel
def _to_montgomery(v: Words, c: Layout) -> None:
    for i in range(v.shape[0]):
        _put(v, i, mul(_get(v, i), c.square, c.p))


@kernel
def _expand_share(s: Words, c: Layout, usage: int, seed: Bytes, aggregator: int, out: Words) -> None:
    """Expands a seed into the share of a measurement, or of its proofs."""
    begin(s, c.prefix[usage], seed)
    if usage == PROOF_SHARE:
        absorb_byte(s, c.proofs)
    absorb_byte(s, aggregator)
    finish(s)
    squeeze_elements(s, c.wide, c.p, out)


@kernel
def _joint_part(s: Words, c: Layout, aggregator: int, blind: Bytes, nonce: Bytes, encoded: Bytes, out: Bytes) -> None:
    """The part of the joint randomness that binds one encoded share."""
    begin(s, c.prefix[JOINT_PART], blind)
    absorb_byte(s, aggregator)
    absorb(s, nonce)
    absorb(s, encoded)
    squeeze_seed(s, out)


@kernel
def _joint_seed(s: Words, c: Layout, parts: Bytes, out: Bytes) -> None:
    begin(s, c.prefix[JOINT_SEED], np.zeros(SEED, np.uint8))
    absorb(s, parts)
    squeeze_seed(s, out)


@kernel
def _joint_randomness(s: Words, c: Layout, seed: Bytes, out: Words) -> None:
    """The joint randomness of all proofs, in Montgomery form."""
    begin(s, c.prefix[JOINT_RANDOMNESS], seed)
    absorb_byte(s, c.proofs)
    finish(s)
    squeeze_elements(s, c.wide, c.p, out)
    _to_montgomery(out, c)


# ------------------------------------------------------------ fully linear proofs
@kernel
def _wire(c: Layout, inputs: Words, joint: Words, inverse: Pair, wires: Words) -> None:
    """Writes the inputs of gadget call k to wires[:, k + 1]; `inverse` is 1 / shares [section 7.3].

    Count and Sum feed the same input to every wire; the others pair r^(j+1) x with x - 1, chunk by chunk.
    """
    p = c.p
    for k in range(c.calls):
        if c.kind <= SUM:
            for j in range(c.arity):
                _put(wires[j], k + 1, _get(inputs, k))
            continue
        r = _get(joint, k)
        power = r
        for j in range(c.arity // 2):
            i = k * (c.arity // 2) + j
            x = _get(inputs, i) if i < c.inputs else ZERO
            _put(wires[2 * j], k + 1, mul(power, x, p))
            _put(wires[2 * j + 1], k + 1, sub(x, inverse, p))
            power = mul(power, r, p)


@kernel
def _gadget(c: Layout, wires: Words, at: int) -> Pair:
    """The gadget on the wires [arity, …, 2] at one place: x^2 - x for Sum, else the sum of products of pairs."""
    if c.kind == SUM:
        x = _get(wires[0], at)
        return sub(mul(mul(x, c.square, c.p), x, c.p), x, c.p)
    total = ZERO
    for j in range(0, c.arity, 2):
        x = mul(_get(wires[j], at), c.square, c.p)
        total = add(total, mul(x, _get(wires[j + 1], at), c.p), c.p)
    return total


@kernel
def _odd_powers(c: Layout, wire: Words, out: Words) -> None:
    """The polynomial with values wire[n] at the powers of the n-th root, at the odd powers of the 2n-th root."""
    n, p = c.points, c.p
    out[:] = wire
    transform(out, c.roots, 2, p)
    for i in range(1, (n + 1) // 2):  # the inverse transform is the transform with its places reversed, over n
        x = _get(out, i)
        _put(out, i, _get(out, n - i))
        _put(out, n - i, x)
    for i in range(n):
        _put(out, i, mul(mul(_get(out, i), _get(c.roots, i), p), c.over_n, p))
    transform(out, c.roots, 2, p)


@kernel
def _prove(c: Layout, inputs: Words, seeds: Words, joint: Words, wires: Words, odd: Words, proof: Words) -> None:
    """Writes a proof: wire seeds, then the gadget polynomial by its values at 2n - 1 powers of the 2n-th root."""
    wires[:] = U(0)
    for j in range(c.arity):
        _put(wires[j], 0, _get(seeds, j))
        _put(proof, j, _get(seeds, j))
    _wire(c, inputs, joint, PLAIN_ONE, wires)
    for j in range(c.arity):
        _odd_powers(c, wires[j], odd[j])
    for i in range(2 * c.points - 1):
        _put(proof, c.arity + i, _gadget(c, odd if i & 1 else wires, i >> 1))


@kernel
def _lagrange(c: Layout, n: int, step: int, t: Pair, fore: Words, out: Words) -> Pair:
    """Writes the weight in f(t) of each value at the powers of the n-th root; returns t^n - 1, all Montgomery form.

    w_i = root_i / n times the product over k != i of (t - root_k), from products of a head fore[i] and a tail.
    """
    p = c.p
    _put(fore, 0, c.one)
    for i in range(n):
        _put(fore, i + 1, mul(_get(fore, i), sub(t, _get(c.roots, i * step), p), p))
    tail = c.over_n if step == 2 else c.over_2n
    for i in range(n - 1, -1, -1):
        root = _get(c.roots, i * step)
        _put(out, i, mul(mul(_get(fore, i), tail, p), root, p))
        tail = mul(tail, sub(t, root, p), p)
    return _get(fore, n)


@kernel
def _gadget_values(c: Layout, proof: Words, values: Words) -> None:
    """All 2n values of a share of the gadget polynomial.

    Its degree is at most 2n - 2, so that the sum of value times root over the 2n-th roots vanishes: that gives the
    last value from the 2n - 1 of the proof.
    """
    last, total = 2 * c.points - 1, ZERO
    for i in range(last):
        x = _get(proof, c.arity + i)
        _put(values, i, x)
        total = add(total, mul(x, _get(c.roots, i), c.p), c.p)
    _put(values, last, sub(ZERO, mul(total, _get(c.roots, 1), c.p), c.p))


@kernel
def _weight_check(c: Layout, inputs: Words) -> Pair:
    """A share of what must vanish beside the bit checks: the marks minus one, or minus their stated number."""
    check = sub(ZERO, c.share_inverse, c.p) if c.kind == HISTOGRAM else ZERO
    for i in range(c.length):
        check = add(check, _get(inputs, i), c.p)
    for i in range(c.length, c.inputs):
        check = sub(check, mul(_get(c.weights, i - c.length), _get(inputs, i), c.p), c.p)
    return check


@kernel
def _circuit_output(c: Layout, inputs: Words, values: Words, query: Words) -> Pair:
    """A share of the circuit's output, from the gadget's values at the calls; several outputs are mixed by `query`."""
    v = ZERO
    for k in range(c.calls):
        g = _get(values, 2 * (k + 1))
        v = add(v, mul(_get(query, k), g, c.p) if c.kind == SUM and c.outputs_checked > 1 else g, c.p)
    if c.kind == COUNT:
        return sub(v, _get(inputs, 0), c.p)
    if c.kind >= HISTOGRAM:
        check = mul(_get(query, 1), _weight_check(c, inputs), c.p)
        return add(mul(_get(query, 0), v, c.p), check, c.p)
    return v


@kernel
def _query(c: Layout, inputs: Words, proof: Words, query: Words, joint: Words, scratch: Scratch, out: Words) -> bool:
    """Writes a verifier share [arity + 2, 2]; False where the random point is one of the roots [section 7.3.3].

    The circuit's output, each wire's polynomial and the gadget's polynomial at the last random element. `scratch` is
    wires [arity, n, 2], gadget values [2n, 2], products [2n + 1, 2] and weights [2n, 2].
    """
    wires, values, fore, weight = scratch
    n, p, t = c.points, c.p, _get(query, query.shape[0] - 1)
    wires[:] = U(0)
    for j in range(c.arity):
        _put(wires[j], 0, _get(proof, j))
    _wire(c, inputs, joint, c.share_inverse, wires)
    _gadget_values(c, proof, values)
    _put(out, 0, _circuit_output(c, inputs, values, query))
    vanishing = _lagrange(c, n, 2, t, fore, weight)
    for j in range(c.arity):
        x = ZERO
        for k in range(c.calls + 1):
            x = add(x, mul(_get(weight, k), _get(wires[j], k), p), p)
        _put(out, 1 + j, x)
    _lagrange(c, 2 * n, 1, t, fore, weight)
    x = ZERO
    for k in range(2 * n):
        x = add(x, mul(_get(weight, k), _get(values, k), p), p)
    _put(out, 1 + c.arity, x)
    return bool((vanishing[0] | vanishing[1]) != U(0))


# ------------------------------------------------------------ batches
@kernel
def _subtract(v: Words, other: Words, p: Modulus) -> None:
    for i in range(v.shape[0]):
        _put(v, i, sub(_get(v, i), _get(other, i), p))


@kernel
def shard_all(
    c: Layout, measurements: Words, nonces: Bytes, rand: Bytes, public: Bytes, leader: Bytes, helpers: Bytes
) -> None:
    """Splits each measurement [report, input, 2] into public share, first share and seeds [report, helper, bytes].

    `rand` holds, for each helper, a seed (and a blind), then the leader's blind, then the seed of the proof.
    """
    s, size, total = np.zeros(26, U), (16 if c.wide else 8), c.proof_length * c.proofs
    mine, share = np.zeros((c.inputs, 2), U), np.zeros((c.inputs, 2), U)
    proof, other = np.zeros((total, 2), U), np.zeros((total, 2), U)
    seeds, joint = np.zeros((c.arity * c.proofs, 2), U), np.zeros((c.joint * c.proofs, 2), U)
    wires, odd = np.zeros((c.arity, c.points, 2), U), np.zeros((c.arity, c.points, 2), U)
    encoded, seed = np.zeros(c.inputs * size, np.uint8), np.zeros(SEED, np.uint8)
    each = 2 * SEED if c.joint else SEED
    for r in range(measurements.shape[0]):
        mine[:] = measurements[r]
        for a in range(1, c.shares):  # `mine` is the measurement minus the shares of the helpers before a
            helpers[r, a - 1] = rand[r, (a - 1) * each : a * each]
            _expand_share(s, c, MEASUREMENT_SHARE, helpers[r, a - 1, :SEED], a, share)
            _subtract(mine, share, c.p)
            if c.joint:
                to_bytes(share, c.wide, encoded)
                part = public[r, a * SEED : (a + 1) * SEED]
                _joint_part(s, c, a, helpers[r, a - 1, SEED:], nonces[r], encoded, part)
        at = (c.shares - 1) * each
        to_bytes(mine, c.wide, encoded)
        leader[r, : encoded.shape[0]] = encoded
        if c.joint:
            blind = rand[r, at : at + SEED]
            at += SEED
            leader[r, leader.shape[1] - SEED :] = blind
            _joint_part(s, c, 0, blind, nonces[r], encoded, public[r, :SEED])
            _joint_seed(s, c, public[r], seed)
            _joint_randomness(s, c, seed, joint)
        begin(s, c.prefix[PROVE], rand[r, at : at + SEED])
        absorb_byte(s, c.proofs)
        finish(s)
        squeeze_elements(s, c.wide, c.p, seeds)
        for q in range(c.proofs):
            of_joint, of_proof = joint[q * c.joint : (q + 1) * c.joint], proof[q * c.proof_length :]
            of_seeds = seeds[q * c.arity : (q + 1) * c.arity]
            _prove(c, measurements[r], of_seeds, of_joint, wires, odd, of_proof)
        for a in range(1, c.shares):
            _expand_share(s, c, PROOF_SHARE, helpers[r, a - 1, :SEED], a, other)
            _subtract(proof, other, c.p)
        to_bytes(proof, c.wide, leader[r, c.inputs * size :])


@kernel
def _truncate(c: Layout, inputs: Words, out: Words) -> None:
    """The output share of an input share: `width` inputs are read as one number with the weights of the circuit."""
    for i in range(out.shape[0]):
        x = ZERO
        for b in range(c.width):
            w = _get(c.weights, b) if c.kind != MULTIHOT else c.one
            x = add(x, mul(w, _get(inputs, i * c.width + b), c.p), c.p)
        _put(out, i, x)


@kernel
def verify_all(
    c: Layout, key: Bytes, aggregator: int, nonces: Bytes, public: Bytes, shares: Bytes, out: Checked
) -> NDArray[np.bool_]:
    """Computes one collector's check of each report into `out`; True for each report that can be read.

    `out`: output shares [report, output, 2], joint seeds and verifiers (bytes).
    """
    outputs, seeds, verifiers = out
    s, size, total = np.zeros(26, U), (16 if c.wide else 8), c.proof_length * c.proofs
    mine, proof = np.zeros((c.inputs, 2), U), np.zeros((total, 2), U)
    query, joint = np.zeros((c.query * c.proofs, 2), U), np.zeros((c.joint * c.proofs, 2), U)
    wires, values = np.zeros((c.arity, c.points, 2), U), np.zeros((2 * c.points, 2), U)
    scratch = (wires, values, np.zeros((2 * c.points + 1, 2), U), np.zeros((2 * c.points, 2), U))
    verifier, encoded = np.zeros((c.arity + 2, 2), U), np.zeros(c.inputs * size, np.uint8)
    parts, span = np.zeros(c.shares * SEED, np.uint8), (c.arity + 2) * size
    good = np.ones(nonces.shape[0], np.bool_)
    for r in range(nonces.shape[0]):
        if aggregator == 0:
            good[r] &= from_bytes(shares[r], c.wide, c.p, mine)
            good[r] &= from_bytes(shares[r, c.inputs * size :], c.wide, c.p, proof)
        else:
            _expand_share(s, c, MEASUREMENT_SHARE, shares[r, :SEED], aggregator, mine)
            _expand_share(s, c, PROOF_SHARE, shares[r, :SEED], aggregator, proof)
        if c.joint:
            parts[:] = public[r]  # but for the own part, which is computed from the share that came
            part = parts[aggregator * SEED : (aggregator + 1) * SEED]
            to_bytes(mine, c.wide, encoded)
            _joint_part(s, c, aggregator, shares[r, shares.shape[1] - SEED :], nonces[r], encoded, part)
            verifiers[r, c.proofs * span :] = part
            _joint_seed(s, c, parts, seeds[r])
            _joint_randomness(s, c, seeds[r], joint)
        begin(s, c.prefix[QUERY], key)
        absorb_byte(s, c.proofs)
        absorb(s, nonces[r])
        finish(s)
        squeeze_elements(s, c.wide, c.p, query)
        _to_montgomery(query, c)
        for q in range(c.proofs):
            of_proof, of_query = proof[q * c.proof_length :], query[q * c.query : (q + 1) * c.query]
            of_joint = joint[q * c.joint : (q + 1) * c.joint]
            good[r] &= _query(c, mine, of_proof, of_query, of_joint, scratch, verifier)
            to_bytes(verifier, c.wide, verifiers[r, q * span : (q + 1) * span])
        _truncate(c, mine, outputs[r])
    return good


@kernel
def _holds(c: Layout, both: Words) -> bool:
    """Whether a verifier [arity + 2, 2] accepts: output zero, and the gadget on the wires equals its polynomial."""
    z = _gadget(c, both[1:].reshape(c.arity + 1, 1, 2), 0)
    last = c.arity + 1
    return bool((both[0, 0] | both[0, 1] | (z[0] ^ both[last, 0]) | (z[1] ^ both[last, 1])) == U(0))


@kernel
def decide_all(c: Layout, verifiers: Bytes, seeds: Bytes) -> NDArray[np.bool_]:
    """Decides from all collectors' verifier shares which reports are valid; fills `seeds` with joint seeds.

    verifiers [aggregator, report, bytes], seeds [report, bytes].
    """
    s, size, k = np.zeros(26, U), (16 if c.wide else 8), c.arity + 2
    span, parts = k * size, np.zeros(c.shares * SEED, np.uint8)
    one, both = np.zeros((k, 2), U), np.zeros((k, 2), U)
    good = np.ones(verifiers.shape[1], np.bool_)
    for r in range(verifiers.shape[1]):
        for q in range(c.proofs):
            both[:] = U(0)
            for a in range(c.shares):  # `both` is the sum of the first a shares
                good[r] &= from_bytes(verifiers[a, r, q * span :], c.wide, c.p, one)
                for i in range(k):
                    _put(both, i, add(_get(both, i), _get(one, i), c.p))
            good[r] &= _holds(c, both)
        if c.joint:
            for a in range(c.shares):
                parts[a * SEED : (a + 1) * SEED] = verifiers[a, r, c.proofs * span :]
            _joint_seed(s, c, parts, seeds[r])
    return good


@kernel
def sum_rows(outputs: Words, chosen: NDArray[np.bool_], p: Modulus, total: Words) -> None:
    """Adds the chosen rows of outputs [report, output, 2] to total [output, 2]."""
    for r in range(outputs.shape[0]):
        if chosen[r]:
            for i in range(outputs.shape[1]):
                _put(total, i, add(_get(total, i), _get(outputs[r], i), p))
