"""The vectorised cipher is ChaCha20."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bruit.randomness._cipher import LANES, WORDS_A_BATCH, fill_keystream

MASK = 2**32 - 1


def rotate(value: int, bits: int) -> int:
    return (value << bits | value >> (32 - bits)) & MASK


def quarter(s: list[int], a: int, b: int, c: int, d: int) -> None:
    for high, low in ((16, 12), (8, 7)):
        s[a] = (s[a] + s[b]) & MASK
        s[d] = rotate(s[d] ^ s[a], high)
        s[c] = (s[c] + s[d]) & MASK
        s[b] = rotate(s[b] ^ s[c], low)


def block(key: list[int], last_row: list[int]) -> bytes:
    """One block of ChaCha20, step by step; the last row is the counter and the nonce, however they are divided."""
    start = [*np.frombuffer(b"expand 32-byte k", "<u4").tolist(), *key, *last_row]
    state = list(start)
    for _ in range(10):
        for i in range(4):
            quarter(state, i, 4 + i, 8 + i, 12 + i)
        for i in range(4):
            quarter(state, i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return b"".join(((a + b) & MASK).to_bytes(4, "little") for a, b in zip(state, start, strict=True))


def test_the_oracle_gives_the_published_block() -> None:
    # RFC 8439, section 2.3.2
    key = np.frombuffer(bytes(range(32)), "<u4").tolist()
    published = (
        "10f1e7e4d13b5915500fdd1fa32071c4c7d1f4c733c068030422aa9ac3d46c4e"
        "d2826446079faa0914c2d705d98b02a2b5129cd1de164eb9cbd083e8a2503c4e"
    )
    assert block(key, [1, 0x09000000, 0x4A000000, 0]).hex() == published


@given(st.lists(st.integers(0, MASK), min_size=10, max_size=10), st.integers(0, 2 * LANES - 1))
def test_every_lane_agrees_with_the_oracle(key: list[int], which: int) -> None:
    out = np.empty(2 * WORDS_A_BATCH, np.uint64)
    fill_keystream(np.array(key, np.uint32), out)
    drawn = out.reshape(2, -1, LANES)[which // LANES, :, which % LANES]
    assert drawn.astype("<u8").tobytes() == block(key[:8], [which, 0, *key[8:]])
