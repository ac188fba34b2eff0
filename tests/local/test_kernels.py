"""Each kernel against plain NumPy or plain Python."""

from itertools import combinations

import numpy as np
import pytest
from laws import assert_law

from bruit.channels import ONE, symmetric
from bruit.local import OLH, HadamardResponse
from bruit.local.frequencies import bits
from bruit.local.frequencies._bit_kernels import noisy_rows, place_bits, through_rows
from bruit.local.frequencies._hadamard_kernels import send_columns
from bruit.local.frequencies._hash_kernels import count_hashed, hash_and_send
from bruit.local.frequencies._subset_kernels import choose_rows
from bruit.local.frequencies.hadamard import transformed


@pytest.mark.parametrize("size", [1, 3, 64, 65, 130])
@pytest.mark.parametrize("rows", [0, 1, 3, 4, 251, 252, 253, 1000])
def test_bits_are_counted(rows: int, size: int) -> None:
    reports = np.random.default_rng(rows).integers(0, 1 << 64, (rows, bits.words_for(size)), dtype=np.uint64)
    assert bits.ones(reports, size).tolist() == bits.unpacked(reports, size).sum(axis=0).tolist()


def test_a_bit_is_placed() -> None:
    rng = np.random.default_rng(1)
    reports = rng.integers(0, 1 << 64, (300, 3), dtype=np.uint64)
    places, coins = rng.integers(0, 192, 300).astype(np.int32), rng.integers(0, 2, 300).astype(bool)
    expected = bits.unpacked(reports, 192)
    expected[np.arange(300), places] = coins
    place_bits(reports, places, coins)
    assert (bits.unpacked(reports, 192) == expected).all()


def hashed(a: int, b: int, value: int, buckets: int) -> int:
    return (((a * value + b) % (1 << 32) >> 16) * buckets) >> 16


@pytest.mark.parametrize("buckets", [2, 3, 4, 7, 100, 65536])
def test_hashed_reports_are_made_and_counted(buckets: int) -> None:
    rng, channel = np.random.default_rng(buckets), symmetric(buckets, epsilon=1)
    places = rng.integers(0, 20, 203).astype(np.int32)
    drawn = rng.integers(0, 1 << 64, (203, 2), dtype=np.uint64)
    reports = np.empty((203, 3), np.uint32)
    hash_and_send(places, buckets, channel.keep, channel.other, drawn, reports)
    counts = np.zeros(20, np.int32)
    count_hashed(reports, buckets, counts)
    expected = [0] * 20
    for (seed, coin), place, (a, b, y) in zip(drawn.tolist(), places.tolist(), reports.tolist(), strict=True):
        assert (a, b) == (seed % (1 << 32), seed >> 32)
        own, u = hashed(a, b, place, buckets), coin >> 12
        moved = (u - channel.keep) // channel.other
        assert y == (own if u < channel.keep else moved + (moved >= own))
        for value in range(20):
            expected[value] += hashed(a, b, value, buckets) == y
    assert counts.tolist() == expected


def test_the_hash_of_a_small_field_is_pairwise_independent() -> None:
    """The proof with 2^32 made 2^8: over all a and b, two values fall into each pair of buckets equally often."""
    a, b = np.meshgrid(np.arange(256), np.arange(256))
    for one, two in ((0, 1), (1, 3), (0, 8), (5, 13), (0, 16)):
        first, second = ((a * v + b) % 256 >> 5 for v in (one, two))  # three bits out, at most five bits in
        pairs = np.bincount((first * 8 + second).ravel(), minlength=64)
        assert (pairs == 1024).all()


@pytest.mark.parametrize("order", [1, 2, 5, 10])
def test_columns_agree_with_the_row_as_the_coin_says(order: int) -> None:
    rng = np.random.default_rng(order)
    places = rng.integers(0, (1 << order) - 1, 500).astype(np.int32)
    drawn = rng.integers(0, 1 << 64, (500, 2), dtype=np.uint64)
    reports = np.empty(500, np.int32)
    send_columns(places, order, ONE // 3, drawn, reports)
    odd = np.array(
        [bin((int(place) + 1) & int(report)).count("1") % 2 for place, report in zip(places, reports, strict=True)]
    )
    assert (odd == ((drawn[:, 1] >> np.uint64(12)) >= ONE // 3)).all()
    assert reports.max() < 1 << order


def test_every_column_of_one_sign_is_equally_likely() -> None:
    protocol = HadamardResponse(3, epsilon=1)
    drawn = np.array([[column, 0] for column in range(4)], np.uint64)
    reports = np.empty(4, np.int32)
    send_columns(np.zeros(4, np.int32), protocol.order, protocol.coin.keep, drawn, reports)
    assert sorted(reports.tolist()) == [0, 0, 2, 2]


def test_the_fast_transform_is_the_slow_one() -> None:
    values = np.random.default_rng(2).integers(0, 100, 16)
    signs = np.array([[(-1) ** bin(r & y).count("1") for y in range(16)] for r in range(16)])
    assert transformed(values).tolist() == (signs @ values).tolist()


def test_too_many_categories_for_the_hash_are_refused() -> None:
    assert OLH(1 << 18, epsilon=1).buckets == 4
    with pytest.raises(ValueError, match="too many"):
        OLH(1 << 18, epsilon=1, buckets=5)


class Drawn:
    """The order in which the bit kernels read words, in plain Python."""

    def __init__(self, words: list[int]) -> None:
        self.words, self.at, self.pool, self.left = words, 0, 0, 0

    def word(self) -> int:
        self.at += 1
        return self.words[self.at - 1]

    def piece(self) -> int:
        if self.left == 0:
            self.pool, self.left = self.word(), 8
        piece, self.pool, self.left = self.pool & 255, self.pool >> 8, self.left - 1
        return piece

    def coins(self, threshold: int) -> int:
        """64 comparisons of a uniform number with the threshold, each from the top bit on."""
        planes = [self.word() for plane in range(4) if threshold % (1 << (52 - plane))]
        tops = [sum((word >> lane & 1) << (3 - plane) for plane, word in enumerate(planes)) for lane in range(64)]
        settled = 4 if threshold % (1 << 48) else len(planes)
        result = 0
        for lane, top in enumerate(tops):
            number, known = top >> (4 - settled) if settled else 0, settled
            while known < 52 and number == threshold >> (52 - known) and threshold % (1 << (52 - known)):
                number, known = number << 8 | self.piece(), known + 8
            result |= (number < threshold >> (52 - known)) << lane
        return result


THRESHOLDS = [0, 1, ONE // 2, ONE // 4 * 3, ONE // 16 * 5, ONE // 16 * 5 + 1, ONE // 3, ONE - 1, 0x4A5A5A5A5A5A5]


@pytest.mark.parametrize("size", [1, 64, 100])
def test_noisy_rows_are_comparisons_with_the_weights(size: int) -> None:
    rng = np.random.default_rng(size)
    for true, false in zip(THRESHOLDS, THRESHOLDS[::-1], strict=True):
        places = rng.integers(0, size, 130).astype(np.int32)
        drawn = rng.integers(0, 1 << 64, 60_000, dtype=np.uint64)
        reports = np.empty((130, bits.words_for(size)), np.uint64)
        made, used = noisy_rows(places, size, true, false, drawn, reports)
        replay, coins = Drawn(drawn.tolist()), 0
        for i, place in enumerate(places.tolist()):
            row = sum(replay.coins(false) << (64 * word) for word in range(reports.shape[1])) % (1 << size)
            coins = replay.coins(true) if i % 64 == 0 else coins >> 1
            row = row & ~(1 << place) | (coins & 1) << place
            assert row == sum(int(word) << (64 * j) for j, word in enumerate(reports[i]))
        assert (made, used) == (130, replay.at)


@pytest.mark.parametrize("size", [1, 64, 100])
def test_bits_pass_a_channel_as_comparisons_say(size: int) -> None:
    rng = np.random.default_rng(size)
    pairs = [*zip(THRESHOLDS, [*THRESHOLDS[3:], *THRESHOLDS[:3]], strict=True), (ONE // 5, ONE - ONE // 5)]
    for if_zero, if_one in pairs:
        rows = rng.integers(0, 1 << 64, (40, bits.words_for(size)), dtype=np.uint64)
        rows[:, -1] &= np.uint64((1 << (size % 64 or 64)) - 1)
        drawn = rng.integers(0, 1 << 64, 20_000, dtype=np.uint64)
        reports = np.empty_like(rows)
        made, used = through_rows(rows, size, if_zero, if_one, drawn, reports)
        replay = Drawn(drawn.tolist())
        for i in range(40):
            for word, sent in enumerate(rows[i].tolist()):
                zeros = replay.coins(if_zero)
                flips = if_zero + if_one == ONE
                ones = 0 if flips else replay.coins(if_one)
                expected = sent ^ zeros if flips else ones & sent | zeros & ~sent
                width = min(64, size - 64 * word)
                assert int(reports[i, word]) == expected % (1 << width)
        assert (made, used) == (40, replay.at)


def test_kernels_stop_before_the_words_run_out() -> None:
    drawn = np.full(500, np.uint64(0x5555555555555555))
    reports = np.zeros((100, 1), np.uint64)
    made, used = noisy_rows(np.zeros(100, np.int32), 64, ONE // 3, ONE // 3, drawn, reports)
    assert 0 < made < 100
    assert used <= 500
    made, used = through_rows(reports, 64, ONE // 3, ONE // 7, drawn, reports.copy())
    assert 0 < made < 100
    assert used <= 500


@pytest.mark.parametrize(("size", "chosen"), [(2, 1), (5, 1), (5, 3), (5, 4), (70, 20), (70, 66)])
def test_sets_have_their_size_and_leave_out_the_own_place(size: int, chosen: int) -> None:
    rng = np.random.default_rng(size * chosen)
    places, kept = rng.integers(0, size, 400).astype(np.int32), rng.integers(0, 2, 400).astype(bool)
    reports = np.zeros((400, bits.words_for(size)), np.uint64)
    made = choose_rows(places, kept, size, chosen, rng.integers(0, 1 << 64, 100_000, dtype=np.uint64), reports)
    rows = bits.unpacked(reports, 64 * reports.shape[1])
    assert made == 400
    assert (rows.sum(axis=1) == chosen - kept).all()
    assert (rows[np.arange(400), places] == 0).all()
    assert (rows[:, size:] == 0).all()


def test_every_set_is_equally_likely() -> None:
    rng, rows = np.random.default_rng(3), 65_536
    for chosen in (2, 3):  # three of the four others are drawn by leaving one out
        reports = np.zeros((rows, 1), np.uint64)
        drawn = rng.integers(0, 1 << 64, 8 * rows, dtype=np.uint64)
        choose_rows(np.full(rows, 1, np.int32), np.zeros(rows, bool), 5, chosen, drawn, reports)
        sets = [sum(1 << place for place in one) for one in combinations((0, 2, 3, 4), chosen)]
        counts = np.bincount(reports[:, 0].astype(int), minlength=32)
        assert_law(counts[sets], np.full(len(sets), 1 / len(sets)))


def test_sets_stop_when_the_words_run_out() -> None:
    reports = np.zeros((10, 1), np.uint64)
    made = choose_rows(np.zeros(10, np.int32), np.zeros(10, bool), 60, 20, np.arange(50, dtype=np.uint64), reports)
    assert made == 2
    assert reports[2, 0] == 0
