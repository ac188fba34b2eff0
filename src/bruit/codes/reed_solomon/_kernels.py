"""Reed–Solomon codes over fields of up to 256 elements with up to 32 checks, many words at a time.

Words are rows of bytes, highest degree first. The ideas:
- encoding: the checks live in four 64-bit words and four message bytes are fed at once, so that a step is sixteen
  look-ups and no chain from byte to byte; shorter checks leave the end of the register empty;
- syndromes come from the remainder alone: a clean word costs no more than encoding it;
- one table, POWERS[j, v] = (v·α^(j·c) for c = 0…31), gives the syndromes and 32 points of the search for roots;
- even and odd parts of the locator stay apart, so that its derivative, which the values need, is already there;
- erasures: the search for the locator starts from theirs, nothing else changes.               [Blahut 1983]
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bruit._jit import inlined, kernel

REGISTER = 32
FAILED = -1
ROOM = 2 * REGISTER + 8

Bytes = NDArray[np.uint8]
Words = NDArray[np.uint64]


class Tables(NamedTuple):
    """Look-up tables of the kernels; `mul` holds the product of a and b at 256·a + b."""

    feed: Words
    powers: Words
    exp: Bytes
    mul: Bytes
    inverse: Bytes
    step: Bytes
    shift: Bytes
    forney: Bytes


@inlined
def _feed_one(r0: Any, r1: Any, r2: Any, r3: Any, byte: Any, feed: Any) -> Any:
    a = ((r0 & np.uint64(255)) ^ np.uint64(byte)) << np.uint64(2)
    q0 = ((r0 >> np.uint64(8)) | (r1 << np.uint64(56))) ^ feed[a]
    q1 = ((r1 >> np.uint64(8)) | (r2 << np.uint64(56))) ^ feed[a + np.uint64(1)]
    q2 = ((r2 >> np.uint64(8)) | (r3 << np.uint64(56))) ^ feed[a + np.uint64(2)]
    q3 = (r3 >> np.uint64(8)) ^ feed[a + np.uint64(3)]
    return q0, q1, q2, q3


@inlined
def _feed_four(r0: Any, r1: Any, r2: Any, r3: Any, words: Any, row: Any, i: Any, feed: Any) -> Any:
    # the four loads become one of 32 bits
    t = r0 ^ (
        np.uint64(words[row, i])
        | (np.uint64(words[row, i + 1]) << np.uint64(8))
        | (np.uint64(words[row, i + 2]) << np.uint64(16))
        | (np.uint64(words[row, i + 3]) << np.uint64(24))
    )
    byte = np.uint64(255)
    one = np.uint64(1)
    two = np.uint64(2)
    three = np.uint64(3)
    a = ((t & byte) << two) + np.uint64(3072)
    b = (((t >> np.uint64(8)) & byte) << two) + np.uint64(2048)
    c = (((t >> np.uint64(16)) & byte) << two) + np.uint64(1024)
    d = ((t >> np.uint64(24)) & byte) << two
    s = np.uint64(32)
    q0 = ((r0 >> s) | (r1 << s)) ^ (feed[a] ^ feed[b]) ^ (feed[c] ^ feed[d])
    q1 = ((r1 >> s) | (r2 << s)) ^ (feed[a + one] ^ feed[b + one]) ^ (feed[c + one] ^ feed[d + one])
    q2 = ((r2 >> s) | (r3 << s)) ^ (feed[a + two] ^ feed[b + two]) ^ (feed[c + two] ^ feed[d + two])
    q3 = (r3 >> s) ^ (feed[a + three] ^ feed[b + three]) ^ (feed[c + three] ^ feed[d + three])
    return q0, q1, q2, q3


@inlined
def _store(r0: Any, r1: Any, r2: Any, r3: Any, out: Any, at: Any) -> None:
    for j in range(8):
        s = np.uint64(8 * j)
        out[at + j] = np.uint8(r0 >> s)
        out[at + 8 + j] = np.uint8(r1 >> s)
        out[at + 16 + j] = np.uint8(r2 >> s)
        out[at + 24 + j] = np.uint8(r3 >> s)


@inlined
def _two_remainders(words: Any, first: Any, second: Any, k: Any, feed: Any) -> Any:
    """Remainders of two rows at once: two chains hide the time of the look-ups."""
    r0 = r1 = r2 = r3 = np.uint64(0)
    s0 = s1 = s2 = s3 = np.uint64(0)
    head = k & 3
    for i in range(head):
        r0, r1, r2, r3 = _feed_one(r0, r1, r2, r3, words[first, i], feed)
        s0, s1, s2, s3 = _feed_one(s0, s1, s2, s3, words[second, i], feed)
    for i in range(head, k, 4):
        r0, r1, r2, r3 = _feed_four(r0, r1, r2, r3, words, first, i, feed)
        s0, s1, s2, s3 = _feed_four(s0, s1, s2, s3, words, second, i, feed)
    return r0, r1, r2, r3, s0, s1, s2, s3


@kernel
def encode(messages: Bytes, feed: Words, codewords: Bytes) -> None:
    """Systematic encoding of messages (rows, k) to codewords (rows, n)."""
    rows, k = messages.shape
    checks = codewords.shape[1] - k
    rest = np.empty(2 * REGISTER, np.uint8)
    for b in range(0, rows, 2):
        second = min(b + 1, rows - 1)  # an odd last row is done twice
        r0, r1, r2, r3, s0, s1, s2, s3 = _two_remainders(messages, b, second, k, feed)
        _store(r0, r1, r2, r3, rest, 0)
        _store(s0, s1, s2, s3, rest, REGISTER)
        for i in range(k):
            codewords[b, i] = messages[b, i]
        for i in range(k):
            codewords[second, i] = messages[second, i]
        for j in range(checks):
            codewords[b, k + j] = rest[j]
            codewords[second, k + j] = rest[REGISTER + j]


@inlined
def _erasure_locator(erased: Bytes, row: int, n: int, locator: Bytes, exp: Bytes, mul: Bytes) -> int:
    """∏ (1 + X·x) over the erased places; returns their number."""
    locator[:] = 0
    locator[0] = 1
    count = 0
    for i in range(n):
        if erased[row, i]:
            x = np.int64(exp[n - 1 - i]) << 8
            for j in range(count + 1, 0, -1):
                locator[j] ^= mul[x | locator[j - 1]]
            count += 1
    return count


@inlined
def _locator(
    syndromes: Bytes, checks: int, erasures: int, locator: Bytes, old: Bytes, new: Bytes, mul: Bytes, inverse: Bytes
) -> int:
    """Berlekamp–Massey from the erasure locator; returns the degree it should have."""
    for j in range(erasures + 1):
        old[j] = locator[j]
    length = erasures
    old_length = erasures + 1
    gap = 1
    last = np.uint8(1)
    for i in range(erasures, checks):
        d = np.uint8(0)
        for j in range(min(length, i) + 1):
            d ^= mul[(np.int64(locator[j]) << 8) | syndromes[i - j]]
        if d == 0:
            gap += 1
            continue
        x = np.int64(mul[(np.int64(d) << 8) | inverse[last]]) << 8
        top = min(old_length, checks + 1 - gap)
        if 2 * length <= i + erasures:
            for j in range(length + 1):
                new[j] = locator[j]
            for j in range(top):
                locator[j + gap] ^= mul[x | old[j]]
            for j in range(length + 1):
                old[j] = new[j]
            old_length = length + 1
            length = i + 1 - length + erasures
            last = d
            gap = 1
        else:
            for j in range(top):
                locator[j + gap] ^= mul[x | old[j]]
            gap += 1
    return length


@inlined
def _roots(
    locator: Bytes, degree: int, order: int, work: Bytes, powers: Words, step: Bytes, points: Any, odds: Bytes
) -> int:
    """The logarithms of the roots and the locator's odd part there, 32 points at a time; returns how many there are."""
    for j in range(degree + 1):
        work[j] = locator[j]
    low = np.uint64(0x7F7F7F7F7F7F7F7F)
    found = 0
    for block in range((order + 31) // 32):
        e0 = e1 = e2 = e3 = np.uint64(0)
        o0 = o1 = o2 = o3 = np.uint64(0)
        for j in range(0, degree + 1, 2):
            at = (j << 8) | np.int64(work[j])
            work[j] = step[at]
            at <<= 2
            e0 ^= powers[at]
            e1 ^= powers[at + 1]
            e2 ^= powers[at + 2]
            e3 ^= powers[at + 3]
        for j in range(1, degree + 1, 2):
            at = (j << 8) | np.int64(work[j])
            work[j] = step[at]
            at <<= 2
            o0 ^= powers[at]
            o1 ^= powers[at + 1]
            o2 ^= powers[at + 2]
            o3 ^= powers[at + 3]
        for q in range(4):
            odd = o0 if q == 0 else (o1 if q == 1 else (o2 if q == 2 else o3))
            x = odd ^ (e0 if q == 0 else (e1 if q == 1 else (e2 if q == 2 else e3)))
            zero = ~(((x & low) + low) | x | low)  # 0x80 in each byte of x that is zero
            for byte in range(8 if zero else 0):
                point = block * 32 + q * 8 + byte
                if (zero >> np.uint64(8 * byte)) & np.uint64(128) and found <= REGISTER and point < order:
                    points[found] = point
                    odds[found] = np.uint8(odd >> np.uint64(8 * byte))
                    found += 1
        if found == degree:
            break  # there are no more
    return found


@inlined
def _values(
    syndromes: Bytes,
    locator: Bytes,
    degree: int,
    points: Any,
    rows: Any,
    work: Bytes,
    exp: Bytes,
    mul: Bytes,
    values: Bytes,
) -> None:
    """The evaluator Ω = S·Λ mod x^degree at every root, Horner's chains side by side.

    `rows` takes where the products with each root stand in the table.
    """
    for r in range(degree):
        rows[r] = np.int64(exp[points[r]]) << 8
        values[r] = 0
    for i in range(degree):
        coefficient = np.uint8(0)
        for j in range(i + 1):
            coefficient ^= mul[(np.int64(locator[j]) << 8) | syndromes[i - j]]
        work[i] = coefficient
    for i in range(degree - 1, -1, -1):
        for r in range(degree):
            values[r] = mul[rows[r] | values[r]] ^ work[i]


@inlined
def _apply(out: Any, row: Any, order: Any, degree: Any, points: Any, odds: Any, values: Any, tables: Any) -> Any:
    """Adds the value X^(1−b)·Ω(x)/Λ'(x) at every place X = 1/x; the odd part of Λ is x·Λ'(x)."""
    changed = 0
    for r in range(degree):
        power = order - points[r] if points[r] else 0
        scale = tables.mul[(np.int64(tables.forney[power]) << 8) | tables.exp[points[r]]]
        value = tables.mul[(np.int64(values[r]) << 8) | tables.inverse[odds[r]]]
        value = tables.mul[(np.int64(value) << 8) | scale]
        out[row, out.shape[1] - 1 - power] ^= value
        changed += value != 0
    return changed


@kernel
def _correct(
    out: Bytes,
    row: int,
    checks: int,
    order: int,
    erased: Bytes,
    use_erasures: bool,
    syndromes: Bytes,
    scratch: Any,
    places: Any,
    tables: Tables,
) -> int:
    """Corrects out[row] in place; returns the number of symbols changed, or FAILED with the row untouched."""
    locator, old, work, odds, values = scratch
    points, rows = places
    n = out.shape[1]
    exp, mul = tables.exp, tables.mul
    erasures = _erasure_locator(erased, row if use_erasures else 0, n if use_erasures else 0, locator, exp, mul)
    degree = _locator(syndromes, checks, erasures, locator, old, work, mul, tables.inverse)
    if 2 * degree - erasures > checks or locator[degree] == 0:
        return FAILED
    if _roots(locator, degree, order, work, tables.powers, tables.step, points, odds) != degree:
        return FAILED
    for r in range(degree):
        if points[r] and order - points[r] >= n:
            return FAILED
    _values(syndromes, locator, degree, points, rows, work, exp, mul, values)
    changed: int = _apply(out, row, order, degree, points, odds, values, tables)
    return changed


@inlined
def _syndromes(rest: Any, at: Any, checks: Any, tables: Any, syndromes: Any) -> None:
    """The remainder's values at the roots of the generator, which are the word's."""
    s0 = s1 = s2 = s3 = np.uint64(0)
    for j in range(checks):
        degree = checks - 1 - j
        shifted = tables.mul[(np.int64(tables.shift[degree]) << 8) | rest[at + j]]
        place = ((degree << 8) | np.int64(shifted)) << 2
        s0 ^= tables.powers[place]
        s1 ^= tables.powers[place + 1]
        s2 ^= tables.powers[place + 2]
        s3 ^= tables.powers[place + 3]
    _store(s0, s1, s2, s3, syndromes, 0)


@inlined
def _differs(received: Any, row: Any, checks: Any, rest: Any, at: Any) -> Any:
    """Turns the remainder of the message into that of the word; not zero if the word is not in the code."""
    dirty = np.uint8(0)
    for j in range(checks):
        rest[at + j] ^= received[row, received.shape[1] - checks + j]
        dirty |= rest[at + j]
    return dirty


@kernel
def decode(
    received: Bytes,
    erased: Bytes,
    use_erasures: bool,
    checks: int,
    order: int,
    tables: Tables,
    corrected: Bytes,
    status: NDArray[np.int64],
) -> None:
    """Decodes received (rows, n) to corrected (rows, n); `status` is the number of changed symbols, or FAILED."""
    rows, n = received.shape
    rest, syndromes = np.empty(2 * REGISTER, np.uint8), np.empty(REGISTER, np.uint8)
    work = np.empty((5, ROOM), np.uint8)
    scratch = (work[0], work[1], work[2], work[3], work[4])
    places = (np.empty(ROOM, np.int64), np.empty(ROOM, np.int64))
    for b in range(0, rows, 2):
        second = min(b + 1, rows - 1)
        r0, r1, r2, r3, q0, q1, q2, q3 = _two_remainders(received, b, second, n - checks, tables.feed)
        _store(r0, r1, r2, r3, rest, 0)
        _store(q0, q1, q2, q3, rest, REGISTER)
        for row in range(b, second + 1):
            at = (row - b) * REGISTER
            status[row] = 0
            for i in range(n):
                corrected[row, i] = received[row, i]
            if _differs(received, row, checks, rest, at):
                _syndromes(rest, at, checks, tables, syndromes)
                status[row] = _correct(
                    corrected, row, checks, order, erased, use_erasures, syndromes, scratch, places, tables
                )
