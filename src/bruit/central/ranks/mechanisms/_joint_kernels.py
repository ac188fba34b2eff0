"""Forward sums of the joint quantile mechanism, without subtraction so that relative errors are bounded.

A cut is placed at a rank; the loss of the slot between two cuts is |records in it - target|; its weight is decay^loss.
`lengths[r]` is the number of cells of rank r, `power[d]` is decay^d. Every kernel keeps each pair of cuts and size
whose loss is at most the window, and may keep others; docs/joint_quantiles.md says why that is enough.
"""

import numpy as np
from numpy.typing import NDArray

from bruit._jit import kernel

LANES = 8

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


@kernel
def count_cells(cells: Integers, grid: int, pad: int) -> Floats:
    """How many cells have 0, 1, ..., n records below them, with `pad` zeros on both sides."""
    rows = len(cells)
    padded = np.empty(rows + 1 + 2 * pad)
    padded[:pad] = 0.0
    padded[rows + 1 + pad :] = 0.0
    before = np.int64(-1)
    for r in range(rows):
        padded[pad + r] = float(cells[r] - before)
        before = cells[r]
    padded[pad + rows] = float(grid - 1 - before)
    return padded


@kernel
def find_bounds(size: int, rows: int, targets: Integers, window: int, bounds: Integers) -> None:
    """The least and largest rank of each cut, and the most cuts in one run, for losses within the window.

    With E = rank - target, |E| + |rows - size - E| <= window. Cuts that share a run have empty slots between them, the
    other slots are over-full by as much: 2 * (sum of their targets) - |rows - size| <= window.
    """
    excess = rows - size
    for j in range(len(targets)):
        bounds[0, j] = max(0, targets[j] + (excess - window) // 2)
        bounds[1, j] = min(rows, targets[j] + (excess + window) // 2 + 1)
        most = 1
        while most <= j and 2 * (targets[j] - targets[j - most]) - abs(excess) <= window:
            most += 1
        bounds[2, j] = most


@kernel
def add_over_full(
    before: Floats, low_before: int, high_before: int, low: int, high: int, target: int, power: Floats, out: Floats
) -> None:
    """out[r] = sum of before[r'] * decay^(r - r' - target) over r' <= r - max(target, 1)."""
    lag, total = max(target, 1), 0.0
    for r in range(min(low, low_before + lag), high + 1):
        total *= power[1]
        source = r - lag
        if low_before <= source <= high_before:
            total += before[source - low_before] * power[lag - target]
        if r >= low:
            out[r - low] = total


@kernel
def add_under_full(
    before: Floats,
    low_before: int,
    high_before: int,
    low: int,
    high: int,
    target: int,
    power: Floats,
    back: Floats,
    out: Floats,
) -> None:
    """out[r] += sum of before[r'] * decay^(target - r + r') over r - target < r' < r.

    The sliding sum is kept as two one-sided sums: `back` over [first, cut), `front` over [cut, r).
    """
    top, cut, front, filled = len(power), low_before, 0.0, low_before
    for r in range(low, high + 1):
        first, last = max(r - target + 1, low_before), min(r - 1, high_before)
        if first > last:
            continue
        if first >= cut:
            cut, front = last + 1, 0.0
            filled = cut
            back[cut - low_before] = 0.0
            for i in range(last, first - 1, -1):
                back[i - low_before] = before[i - low_before] + power[1] * back[i + 1 - low_before]
        while filled <= last:
            if filled - cut < top:
                front += before[filled - low_before] * power[filled - cut]
            filled += 1
        shift = first - (r - target)
        if shift < top:
            total = back[first - low_before]
            if cut - first < top:
                total += power[cut - first] * front
            out[r - low] += power[shift] * total


@kernel
def place_cut(
    lengths: Floats, targets: Integers, j: int, power: Floats, arrive: Floats, place: Floats, bounds: Integers
) -> None:
    """Sets place[j, r], the total weight of cuts 0 .. j with cut j at rank r, alone or sharing its run of cells."""
    low, top = bounds[0, j], len(power)
    for i in range(bounds[1, j] - low + 1):
        length = lengths[low + i]
        total = 0.0
        if length > 0:
            total = length * arrive[j, i]
            ways, empty = length, 1.0
            for k in range(2, bounds[2, j] + 1):  # the last k cuts share the run
                first = j - k + 1
                ways *= (length + k - 1) * (1.0 / k)
                gap = targets[first + 1] - targets[first]
                empty = empty * power[gap] if gap < top else 0.0
                if bounds[0, first] <= low + i <= bounds[1, first]:
                    total += ways * empty * arrive[first, low + i - bounds[0, first]]
        place[j, i] = total


@kernel
def sum_forward(
    lengths: Floats,
    size: int,
    targets: Integers,
    window: int,
    power: Floats,
    arrive: Floats,
    place: Floats,
    bounds: Integers,
    back: Floats,
) -> float:
    """The total weight for one table size; arrive and place are the sums before and after cut j finds its cells."""
    rows, top, m = len(lengths) - 1, len(power), len(targets)
    find_bounds(size, rows, targets, window, bounds)
    low, high = bounds[0], bounds[1]
    for j in range(m):
        if high[j] < low[j]:
            return 0.0
        if j == 0:
            for i in range(high[0] - low[0] + 1):
                distance = abs(low[0] + i - targets[0])
                arrive[0, i] = power[distance] if distance < top else 0.0
        else:
            target = targets[j] - targets[j - 1]
            previous = place[j - 1]
            add_over_full(previous, low[j - 1], high[j - 1], low[j], high[j], target, power, arrive[j])
            add_under_full(previous, low[j - 1], high[j - 1], low[j], high[j], target, power, back, arrive[j])
        place_cut(lengths, targets, j, power, arrive, place, bounds)
    total = 0.0
    for i in range(high[m - 1] - low[m - 1] + 1):
        distance = abs(rows - (low[m - 1] + i) - (size - targets[m - 1]))
        if distance < top:
            total += place[m - 1, i] * power[distance]
    return total


@kernel
def sum_every_size(
    lengths: Floats,
    sizes: Integers,
    targets: Integers,
    window: int,
    power: Floats,
    arrive: Floats,
    place: Floats,
    bounds: Integers,
    back: Floats,
    out: Floats,
) -> None:
    """Writes the total weight of every table size to `out`, one size at a time."""
    for i in range(len(sizes)):
        out[i] = sum_forward(lengths, sizes[i], targets[i], window, power, arrive, place, bounds, back)


@kernel
def smooth_lanes(place: Floats, ahead: Floats, padded: Floats, at: Integers, decay: float, width: int) -> None:
    """Advances every lane by one cut: two-sided sums of decay^|E - E'|, times the number of cells at each rank.

    The running sums of the lanes are eight names, not an array: so they stay in registers.
    """
    a = b = c = d = e = f = g = h = 0.0
    for i in range(width):  # over-full or exact: E' <= E
        row, out = place[i], ahead[i]
        a, b, c, d = a * decay + row[0], b * decay + row[1], c * decay + row[2], d * decay + row[3]
        e, f, g, h = e * decay + row[4], f * decay + row[5], g * decay + row[6], h * decay + row[7]
        out[0], out[1], out[2], out[3], out[4], out[5], out[6], out[7] = a, b, c, d, e, f, g, h
    a = b = c = d = e = f = g = h = 0.0
    first, second, third, fourth = at[0], at[1], at[2], at[3]
    fifth, sixth, seventh, eighth = at[4], at[5], at[6], at[7]
    for i in range(width - 1, -1, -1):  # under-full: E' > E
        row, out = place[i], ahead[i]
        p, q, r, s = row[0], row[1], row[2], row[3]
        t, u, v, w = row[4], row[5], row[6], row[7]
        row[0] = (a + out[0]) * padded[first + i]
        row[1] = (b + out[1]) * padded[second + i]
        row[2] = (c + out[2]) * padded[third + i]
        row[3] = (d + out[3]) * padded[fourth + i]
        row[4] = (e + out[4]) * padded[fifth + i]
        row[5] = (f + out[5]) * padded[sixth + i]
        row[6] = (g + out[6]) * padded[seventh + i]
        row[7] = (h + out[7]) * padded[eighth + i]
        a, b, c, d = (a + p) * decay, (b + q) * decay, (c + r) * decay, (d + s) * decay
        e, f, g, h = (e + t) * decay, (f + u) * decay, (g + v) * decay, (h + w) * decay


@kernel
def sum_apart(padded: Floats, pad: int, rows: int, sizes: Integers, targets: Integers, power: Floats) -> Floats:
    """The total weights of LANES table sizes at once, for cuts whose windows do not overlap.

    With E the rank of a cut less its target, the loss of a slot is |E - E'|: every size runs the same two-sided
    exponential smoothing, and the lanes hide the latency of its recursion.
    """
    width = (pad - 4) // 2 + 2
    place, ahead = np.zeros((width, LANES)), np.zeros((width, LANES))
    first, at, out = np.empty(LANES, np.int64), np.empty(LANES, np.int64), np.zeros(LANES)
    for lane in range(LANES):
        first[lane] = (rows - sizes[lane] - (width - 2)) // 2
        for i in range(width):
            start = pad + targets[lane, 0] + first[lane]
            place[i, lane] = power[abs(first[lane] + i)] * padded[start + i]
    for j in range(1, targets.shape[1]):
        for lane in range(LANES):
            at[lane] = pad + targets[lane, j] + first[lane]
        smooth_lanes(place, ahead, padded, at, power[1], width)
    for i in range(width):
        for lane in range(LANES):
            out[lane] += place[i, lane] * power[abs(rows - sizes[lane] - first[lane] - i)]
    return out


@kernel
def sum_every_size_apart(
    padded: Floats, sizes: Integers, targets: Integers, window: int, power: Floats, out: Floats
) -> None:
    """Writes the total weight of every table size to `out`, LANES at a time; the last block repeats its last size."""
    pad = 2 * window + 4
    rows = len(padded) - 2 * pad - 1
    some, aims = np.empty(LANES, np.int64), np.empty((LANES, targets.shape[1]), np.int64)
    for start in range(0, len(sizes), LANES):
        for lane in range(LANES):
            i = min(start + lane, len(sizes) - 1)
            some[lane] = sizes[i]
            aims[lane] = targets[i]
        part = sum_apart(padded, pad, rows, some, aims, power)
        for lane in range(min(LANES, len(sizes) - start)):
            out[start + lane] = part[lane]
