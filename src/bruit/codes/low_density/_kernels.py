"""Message passing for LDPC codes: sum-product, and layered min-sum on LANES words side by side.

Min-sum stores a variable as [column, place in the circulant, word], the word innermost: a circulant edge then reads one
contiguous run (two where it wraps), so that every inner loop is long, unit-stride and int16. A layer is cut in tiles
of circulant rows that keep its work rows near the processor.
"""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

Row = NDArray[np.int16]
Index = NDArray[np.int64]

LANES = 32
TILE = 52  # circulant rows per tile; shorter tiles pay more for slicing than they save
LIMIT = 2000  # a total never passes this, so that no sum wraps int16
SURE = 1.0 - 1e-15  # a product of tanh is kept below one: the answer stays finite
UNDECIDED = 1e-9  # what rounding may leave of a sum that cancels
GRAIN = 6  # the factor of min-sum counts in 2^-6: 127 · 2^6 fits int16


@kernel
def is_satisfied(total: NDArray[np.float64], row_start: Index, column: Index) -> bool:
    """Whether no total is zero and the signs satisfy every parity check."""
    for v in range(total.size):
        if abs(total[v]) <= UNDECIDED:
            return False
    for r in range(row_start.size - 1):
        odd = False
        for e in range(row_start[r], row_start[r + 1]):
            odd ^= total[column[e]] < 0
        if odd:
            return False
    return True


@kernel
def _check_rule(inputs: NDArray[np.float64], ahead: NDArray[np.float64], size: int, out: NDArray[np.float64]) -> None:
    """out[i] = 2 artanh Π_{j≠i} tanh(inputs[j] / 2), by products from both sides."""
    product = 1.0
    for i in range(size):
        x = np.exp(-abs(inputs[i]))
        inputs[i] = (1.0 - x) / (1.0 + x) if inputs[i] >= 0 else (x - 1.0) / (1.0 + x)
        ahead[i] = product
        product *= inputs[i]
    product = 1.0
    for i in range(size - 1, -1, -1):
        p = max(-SURE, min(SURE, ahead[i] * product))
        out[i] = np.log((1.0 + p) / (1.0 - p))
        product *= inputs[i]


@kernel
def sum_product(
    likelihoods: NDArray[np.float64],
    row_start: Index,
    column: Index,
    iterations: int,
    layered: int,
    total: NDArray[np.float64],
) -> int:
    """Decodes one word by sum-product; `total` becomes the posterior log-likelihood ratios (flooding or layered).

    Returns the number of iterations; stops when every check is satisfied.
    """
    rows = row_start.size - 1
    widest = 0
    for r in range(rows):
        widest = max(widest, row_start[r + 1] - row_start[r])
    message = np.zeros(column.size)
    inputs = np.empty(widest)
    ahead = np.empty(widest)
    out = np.empty(widest)
    following = likelihoods.copy()
    total[:] = likelihoods
    for iteration in range(iterations):
        if is_satisfied(total, row_start, column):
            return iteration
        if not layered:
            following[:] = likelihoods
        for r in range(rows):
            first = row_start[r]
            size = row_start[r + 1] - first
            for i in range(size):
                inputs[i] = total[column[first + i]] - message[first + i]
            if layered:
                for i in range(size):
                    total[column[first + i]] = inputs[i]
            _check_rule(inputs, ahead, size, out)
            for i in range(size):
                message[first + i] = out[i]
                if layered:
                    total[column[first + i]] += out[i]
                else:
                    following[column[first + i]] += out[i]
        if not layered:
            total[:] = following
    return iterations


@kernel
def _subtract(total: Row, message: NDArray[np.int8], work: Row) -> None:
    """What the others say of each variable."""
    for i in range(work.size):
        work[i] = np.int16(total[i] - np.int16(message[i]))


@kernel
def _two_least(work: Row, least: Row, second: Row, sign: Row) -> None:
    for i in range(work.size):
        v = work[i]
        a = np.int16(abs(v))
        old = least[i]
        second[i] = min(second[i], max(old, a))
        least[i] = min(old, a)
        sign[i] ^= v


@kernel
def _parity(total: Row, parity: Row) -> None:
    for i in range(parity.size):
        parity[i] ^= total[i]


@kernel
def _new_message(
    work: Row,
    least: Row,
    second: Row,
    sign: Row,
    factor: np.int16,
    message: NDArray[np.int8],
    total: Row,
) -> None:
    """The least r of the others times factor / 2^GRAIN, cut towards zero, but never to zero: 1 stays 1.

    What was heard thus never fades to nothing on its way, however many checks it passes: over erasures the decoder
    knows a bit exactly where peeling does. Rounding to the nearest needs more iterations for no gain.
    """
    for i in range(work.size):
        v = work[i]
        a = np.int16(abs(v))
        r = second[i] if a == least[i] else least[i]
        r = max(np.int16(np.int16(r * factor) >> GRAIN), min(r, np.int16(1)))
        flip = np.int16(np.int16(sign[i] ^ v) >> 15)
        r = np.int16(np.int16(r ^ flip) - flip)
        message[i] = np.int8(r)
        total[i] = max(np.int16(-LIMIT), min(np.int16(LIMIT), np.int16(v + r)))


@kernel
def all_satisfied(
    total: NDArray[np.int16], row_start: Index, column: Index, shift: Index, lifting: int, parity: Row
) -> bool:
    """Whether all words of the group satisfy every check with no bit at 0; most failures are found early."""
    size = lifting * LANES
    for r in range(row_start.size - 1):
        parity[:] = 0
        for e in range(row_start[r], row_start[r + 1]):
            t = total[column[e]]
            at = shift[e] * LANES
            _parity(t[at:], parity[: size - at])
            if at > 0:
                _parity(t[:at], parity[size - at :])
        bad = np.int16(0)
        for i in range(size):
            bad |= parity[i]
        if bad < 0:
            return False
    return not _has_zero(total.reshape(-1))


@kernel
def _has_zero(total: Row) -> bool:
    zeros = np.int16(0)
    for i in range(total.size):
        zeros |= np.int16(1) if total[i] == 0 else np.int16(0)
    return bool(zeros)


@kernel
def min_sum_lanes(
    total: NDArray[np.int16],
    row_start: Index,
    column: Index,
    shift: Index,
    lifting: int,
    iterations: int,
    factor: np.int16,
    message: NDArray[np.int8],
    work: NDArray[np.int16],
    rows: NDArray[np.int16],
    parity: Row,
) -> int:
    """Layered min-sum on total (columns, lifting · LANES), in place; message (edges, lifting · LANES) is overwritten.

    Returns the number of iterations after which every word of the group satisfied every check, or one too many.
    """
    message[:] = 0
    for iteration in range(iterations):
        for r in range(row_start.size - 1):
            first = row_start[r]
            last = row_start[r + 1]
            for z in range(0, lifting, TILE):
                height = min(TILE, lifting - z)
                size = height * LANES
                least = rows[0, :size]
                second = rows[1, :size]
                sign = rows[2, :size]
                least[:] = 127
                second[:] = 127
                sign[:] = 0
                for e in range(first, last):
                    begin = z + shift[e]
                    if begin >= lifting:
                        begin -= lifting
                    head = min(height, lifting - begin) * LANES  # then it wraps to place 0
                    t = total[column[e]]
                    m = message[e, z * LANES : z * LANES + size]
                    w = work[e - first, :size]
                    at = begin * LANES
                    _subtract(t[at : at + head], m[:head], w[:head])
                    if head < size:
                        _subtract(t[: size - head], m[head:], w[head:])
                    _two_least(w, least, second, sign)
                for e in range(first, last):
                    begin = z + shift[e]
                    if begin >= lifting:
                        begin -= lifting
                    head = min(height, lifting - begin) * LANES
                    t = total[column[e]]
                    m = message[e, z * LANES : z * LANES + size]
                    w = work[e - first, :size]
                    at = begin * LANES
                    _new_message(
                        w[:head], least[:head], second[:head], sign[:head], factor, m[:head], t[at : at + head]
                    )
                    if head < size:
                        _new_message(
                            w[head:], least[head:], second[head:], sign[head:], factor, m[head:], t[: size - head]
                        )
        if all_satisfied(total, row_start, column, shift, lifting, parity):
            return iteration + 1
    return iterations + 1


@kernel
def satisfied_lanes(total: NDArray[np.int16], row_start: Index, column: Index, ok: NDArray[np.bool_]) -> None:
    """Sets ok[word] to whether total (variables, LANES) has no zero and its signs satisfy every check."""
    bad = np.zeros(LANES, np.int16)
    odd = np.empty(LANES, np.int16)
    for v in range(total.shape[0]):
        for f in range(LANES):
            bad[f] |= np.int16(-1) if total[v, f] == 0 else np.int16(0)
    for r in range(row_start.size - 1):
        odd[:] = 0
        for e in range(row_start[r], row_start[r + 1]):
            _parity(total[column[e]], odd)
        for f in range(LANES):
            bad[f] |= odd[f]
    for f in range(ok.size):
        ok[f] = bad[f] >= 0
