"""The codes of satellite television: their structure, a slow encoder, published thresholds and error rates."""

from fractions import Fraction
from math import log10

import numpy as np
import pytest
from laws import ALARM, binomial_window

from bruit.codes import Ldpc, dvb_s2, shannon_limit, simulate
from bruit.codes.low_density.standards import address_tables
from bruit.errors import InvalidArgument

SHORT = {
    "1/4": 3240, "1/3": 5400, "2/5": 6480, "1/2": 7200, "3/5": 9720, "2/3": 10800, "3/4": 11880, "4/5": 12600,
    "5/6": 13320, "8/9": 14400,
}  # fmt: skip
"""Message bits of the short frame.                                                     [EN 302 307-1, Table 5b]"""

THRESHOLDS = {
    "1/4": -2.35, "1/3": -1.24, "2/5": -0.30, "1/2": 1.00, "3/5": 2.23, "2/3": 3.10, "3/4": 4.03, "4/5": 4.68,
    "5/6": 5.18, "8/9": 6.20, "9/10": 6.42,
}  # fmt: skip
"""Es/N0 (dB) of QPSK at which long frames are quasi error free, with 50 iterations.       [EN 302 307-1, Table 13]"""


@pytest.mark.parametrize(("n", "rate"), address_tables())
def test_tables_have_the_structure_of_the_standard(n: int, rate: str) -> None:
    """Sizes; addresses below n − k, none twice in a line; what each check reads; long lines first, then threes."""
    code, groups = dvb_s2(n, rate), address_tables()[n, rate]
    assert code.k == (SHORT[rate] if n == 16200 else n * Fraction(rate)) == 360 * len(groups)
    checks = n - code.k
    assert all(line.max() < checks and np.unique(line).size == line.size >= 3 for line in groups)
    step = checks // 360
    read = np.bincount(np.concatenate(groups) % step, minlength=step)
    degrees = np.diff(code.graph.flat[0])
    np.testing.assert_array_equal(degrees[1:], np.tile(read, 360)[1:] + 2)
    assert degrees[0] == read[0] + 1
    sizes = [line.size for line in groups]
    assert sizes == sorted(sizes, reverse=True)
    assert sizes[-1] == 3


@pytest.mark.parametrize(("n", "rate"), [(16200, "1/4"), (16200, "8/9"), (64800, "2/3")])
def test_words_are_those_of_the_standards_procedure(n: int, rate: str) -> None:
    """Parities added up address by address, bit by bit, then each one onto the next."""
    code, groups = dvb_s2(n, rate), address_tables()[n, rate]
    message = np.random.default_rng(1).integers(0, 2, code.k, np.uint8)
    checks = n - code.k
    parity = [0] * checks
    for bit in np.flatnonzero(message):
        for address in groups[bit // 360]:
            parity[(address + bit % 360 * (checks // 360)) % checks] ^= 1
    for at in range(1, checks):
        parity[at] ^= parity[at - 1]
    np.testing.assert_array_equal(code.encode(message), [*message, *parity])


def assert_threshold(rate: str) -> None:
    """A tenth of a decibel above the published threshold two frames come through; at Shannon's limit none does."""
    code = dvb_s2(64800, rate)
    level = THRESHOLDS[rate] - 10 * log10(2 * code.rate)
    rng = np.random.default_rng(2)
    levels = (level + 0.1, shannon_limit(float(code.rate), "gaussian"))
    assert simulate(code, "gaussian", levels, words=2, rng=rng)["word_errors"].to_list() == [0, 2]


def test_long_frames_come_through_at_the_published_threshold() -> None:
    assert_threshold("1/2")


@pytest.mark.stress
@pytest.mark.parametrize("rate", THRESHOLDS)
def test_every_rate_comes_through_at_its_published_threshold(rate: str) -> None:
    assert_threshold(rate)


PUBLISHED = {  # facts from the error-rate references of AFF3CT: Eb/N0 (dB) and frame error rates
    "8/9 sum-product": {3.4: 7.85e-1, 3.5: 4.26e-1, 3.6: 9.55e-2, 3.7: 1.64e-2, 3.8: 1.14e-3},
    "4/5 sum-product": {2.6: 7.74e-2, 2.7: 6.71e-3, 2.8: 4.90e-4},
    "3/4 min-sum": {2.3: 5.10e-1, 2.4: 1.64e-1, 2.5: 2.77e-2, 2.6: 1.81e-3},
}
"""Layered sum-product with 50 iterations, layered min-sum with factor 0.75 and 20 iterations; frames of 16200 bits."""


def assert_published(name: str, code: Ldpc, level: float, words: int) -> None:
    most, least = PUBLISHED[name][round(level - 0.1, 1)], PUBLISHED[name][round(level + 0.1, 1)]
    frame = simulate(code, "gaussian", [level], word_errors=words, words=words, rng=np.random.default_rng(3))
    low, high = binomial_window(words, least, ALARM)[0], binomial_window(words, most, ALARM)[1]
    assert low <= frame["word_errors"][0] <= high


def test_error_rates_are_within_a_tenth_of_a_decibel_of_the_published() -> None:
    assert_published("3/4 min-sum", dvb_s2(16200, "3/4", decoder="min-sum", iterations=20), 2.4, 128)


@pytest.mark.stress
def test_error_rates_are_within_a_tenth_of_a_decibel_of_the_published_at_full_size() -> None:
    assert_published("8/9 sum-product", dvb_s2(16200, "8/9"), 3.6, 1000)
    assert_published("4/5 sum-product", dvb_s2(16200, "4/5"), 2.7, 1000)
    assert_published("3/4 min-sum", dvb_s2(16200, "3/4", decoder="min-sum", iterations=20), 2.5, 4000)


def test_frames_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="9/10: 64800 only"):
        dvb_s2(16200, "9/10")
    with pytest.raises(InvalidArgument, match="lengths are 16200 and 64800"):
        dvb_s2(1000, "1/2")
