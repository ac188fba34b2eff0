"""Reed–Solomon codes over any field of up to 65536 elements with any number of checks, by logarithms.

The same algorithms as for the short ones, written for every size; `log[0]` is so large that exp[log a + log 0] is 0.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit._jit import inlined, kernel

FAILED = -1

Symbols = NDArray[np.uint16]
Logs = NDArray[np.int32]


@inlined
def _times(a: Any, b: Any, exp: Any, log: Any) -> Any:
    return exp[np.int64(log[a]) + np.int64(log[b])]


@kernel
def _remainder(words: Symbols, row: int, k: int, generator: Logs, exp: Symbols, log: Logs, rest: Symbols) -> None:
    """What is left of the first k symbols, moved up by the number of checks, after division by the generator."""
    checks = generator.size
    rest[:] = 0
    for i in range(k):
        feedback = np.int64(log[words[row, i] ^ rest[0]])
        for j in range(checks - 1):
            rest[j] = rest[j + 1] ^ exp[feedback + np.int64(generator[j])]
        rest[checks - 1] = exp[feedback + np.int64(generator[checks - 1])]


@kernel
def encode(messages: Symbols, generator: Logs, exp: Symbols, log: Logs, codewords: Symbols) -> None:
    """Systematic encoding of messages (rows, k) to (rows, n); `generator` holds logarithms after the leading 1."""
    rows, k = messages.shape
    rest = np.empty(generator.size, np.uint16)
    for row in range(rows):
        _remainder(messages, row, k, generator, exp, log, rest)
        for i in range(k):
            codewords[row, i] = messages[row, i]
        for j in range(rest.size):
            codewords[row, k + j] = rest[j]


@kernel
def _erasure_locator(erased: Any, row: int, n: int, locator: Symbols, exp: Symbols, log: Logs) -> int:
    locator[:] = 0
    locator[0] = 1
    count = 0
    for i in range(n):
        if erased[row, i]:
            for j in range(count + 1, 0, -1):
                locator[j] ^= exp[np.int64(n - 1 - i) + np.int64(log[locator[j - 1]])]
            count += 1
    return count


@kernel
def _locator(
    syndromes: Symbols, erasures: int, locator: Symbols, old: Symbols, new: Symbols, exp: Symbols, log: Logs, order: int
) -> int:
    """Berlekamp–Massey from the erasure locator; returns the degree it should have."""
    checks = syndromes.size
    old[:] = locator
    length = erasures
    gap = 1
    last = np.int64(0)
    for i in range(erasures, checks):
        d = np.uint16(0)
        for j in range(min(length, i) + 1):
            d ^= _times(locator[j], syndromes[i - j], exp, log)
        if d == 0:
            gap += 1
            continue
        x = (np.int64(log[d]) + order - last) % order
        new[:] = locator
        for j in range(checks + 1 - gap):
            locator[j + gap] ^= exp[x + np.int64(log[old[j]])]
        if 2 * length <= i + erasures:
            old[:] = new
            length = i + 1 - length + erasures
            last = np.int64(log[d])
            gap = 1
        else:
            gap += 1
    return length


@kernel
def _roots(locator: Symbols, degree: int, n: int, exp: Symbols, log: Logs, order: int, places: Any) -> int:
    """The places 0…n−1 (as powers) whose inverse is a root; returns how many there are."""
    found = 0
    for power in range(n):
        value = locator[0]
        for j in range(1, degree + 1):
            value ^= exp[np.int64(log[locator[j]]) + (np.int64(order - power) * j) % order]
        if value == 0:
            if found == degree:
                return found + 1
            places[found] = power
            found += 1
    return found


@kernel
def _correct(
    out: Symbols,
    row: int,
    erased: Any,
    use_erasures: bool,
    syndromes: Symbols,
    scratch: Any,
    exp: Symbols,
    log: Logs,
    order: int,
    first_root: int,
) -> int:
    """Corrects out[row] in place; returns the number of symbols changed, or FAILED with the row untouched."""
    locator, old, work, places = scratch
    n, checks = out.shape[1], syndromes.size
    erasures = _erasure_locator(erased, row if use_erasures else 0, n if use_erasures else 0, locator, exp, log)
    degree = _locator(syndromes, erasures, locator, old, work, exp, log, order)
    if 2 * degree - erasures > checks or locator[degree] == 0:
        return FAILED
    if _roots(locator, degree, n, exp, log, order, places) != degree:
        return FAILED
    for i in range(degree):
        work[i] = 0
        for j in range(i + 1):
            work[i] ^= _times(locator[j], syndromes[i - j], exp, log)
    changed = 0
    for r in range(degree):
        point = np.int64(order - places[r]) % order
        above, below = np.uint16(0), np.uint16(0)
        for i in range(degree):
            above ^= exp[np.int64(log[work[i]]) + (point * i) % order]
        for j in range(1, degree + 1, 2):
            below ^= exp[np.int64(log[locator[j]]) + (point * (j - 1)) % order]
        factor = ((1 - first_root) * places[r]) % order
        value = exp[np.int64(log[above]) + (order - np.int64(log[below]) + factor) % order]
        out[row, n - 1 - places[r]] ^= value
        changed += value != 0
    return changed


@kernel
def decode(
    received: Symbols,
    erased: Any,
    use_erasures: bool,
    first_root: int,
    order: int,
    generator: Logs,
    exp: Symbols,
    log: Logs,
    corrected: Symbols,
    status: NDArray[np.int64],
) -> None:
    """Decodes received (rows, n) to corrected (rows, n); `status` is the number of changed symbols, or FAILED."""
    rows, n = received.shape
    checks = generator.size
    rest = np.empty(checks, np.uint16)
    syndromes = np.empty(checks, np.uint16)
    scratch = (
        np.empty(checks + 2, np.uint16),
        np.empty(checks + 2, np.uint16),
        np.empty(checks + 2, np.uint16),
        np.empty(checks + 2, np.int64),
    )
    for row in range(rows):
        _remainder(received, row, n - checks, generator, exp, log, rest)
        dirty = np.uint16(0)
        for j in range(checks):
            rest[j] ^= received[row, n - checks + j]
            dirty |= rest[j]
        for i in range(n):
            corrected[row, i] = received[row, i]
        status[row] = 0
        if dirty == 0:
            continue
        for i in range(checks):
            total = np.uint16(0)
            for j in range(checks):
                total ^= exp[np.int64(log[rest[j]]) + (np.int64(first_root + i) * (checks - 1 - j)) % order]
            syndromes[i] = total
        status[row] = _correct(corrected, row, erased, use_erasures, syndromes, scratch, exp, log, order, first_root)
