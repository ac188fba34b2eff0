"""Local hashing by (a v + b) mod 2^32, its top 16 bits scaled to a bucket; JavaScript's Math.imul(a, v) agrees."""

from typing import Any

import numpy as np

from bruit._jit import inlined, kernel


@kernel
def hash_and_send(places: Any, buckets: int, keep: int, other: int, words: Any, reports: Any) -> None:
    """Makes reports (n, 3) uint32 (a, b, noised bucket) from places (n,) int32 and words (n, 2) uint64."""
    kept = np.float64(keep)
    step = np.float64(other)
    for i in range(places.size):
        seed = words[i, 0]
        a = np.uint32(seed)
        b = np.uint32(seed >> np.uint64(32))
        x = np.uint32(np.uint32(a * np.uint32(places[i])) + b)
        h = np.int32((np.uint64(x >> np.uint32(16)) * np.uint64(buckets)) >> np.uint64(16))
        u = np.float64(np.int64(words[i, 1] >> np.uint64(12)))
        if u >= kept:
            moved = np.int32((u - kept) / step)
            h = moved + np.int32(1) if moved >= h else moved
        reports[i, 0] = a
        reports[i, 1] = b
        reports[i, 2] = np.uint32(h)


@inlined
def _range(bucket: Any, buckets: int) -> Any:
    """Start and width of the hashes that fall in a bucket, as uint32."""
    low = (np.int64(bucket) * 65536 + buckets - 1) // buckets
    high = (np.int64(bucket + 1) * 65536 + buckets - 1) // buckets
    return np.uint32(low << 16), np.uint32((high - low) << 16)


@kernel
def add_four(
    a0: Any,
    b0: Any,
    w0: Any,
    a1: Any,
    b1: Any,
    w1: Any,
    a2: Any,
    b2: Any,
    w2: Any,
    a3: Any,
    b3: Any,
    w3: Any,
    counts: Any,
) -> None:
    """Adds to counts (k,) int32, for each category, how many of four reports it hashes into (one range test each)."""
    for v in range(counts.size):
        x = np.uint32(v)
        c = np.int32(np.uint32(np.uint32(a0 * x) + b0) < w0)
        c += np.int32(np.uint32(np.uint32(a1 * x) + b1) < w1)
        c += np.int32(np.uint32(np.uint32(a2 * x) + b2) < w2)
        c += np.int32(np.uint32(np.uint32(a3 * x) + b3) < w3)
        counts[v] += np.int32(c)


@kernel
def count_hashed(reports: Any, buckets: int, counts: Any) -> None:
    """Adds to counts (k,) int32, for each category, how many of at most 2^31 - 1 reports (n, 3) uint32 support it."""
    n = reports.shape[0]
    zero = np.uint32(0)
    for i in range(0, n - 3, 4):
        l0, w0 = _range(reports[i, 2], buckets)
        l1, w1 = _range(reports[i + 1, 2], buckets)
        l2, w2 = _range(reports[i + 2, 2], buckets)
        l3, w3 = _range(reports[i + 3, 2], buckets)
        add_four(
            reports[i, 0],
            np.uint32(reports[i, 1] - l0),
            w0,
            reports[i + 1, 0],
            np.uint32(reports[i + 1, 1] - l1),
            w1,
            reports[i + 2, 0],
            np.uint32(reports[i + 2, 1] - l2),
            w2,
            reports[i + 3, 0],
            np.uint32(reports[i + 3, 1] - l3),
            w3,
            counts,
        )
    for i in range(n - (n & 3), n):
        low, width = _range(reports[i, 2], buckets)
        b = np.uint32(reports[i, 1] - low)
        add_four(reports[i, 0], b, width, zero, zero, zero, zero, zero, zero, zero, zero, zero, counts)
