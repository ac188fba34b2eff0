"""What stands before and behind the soft decoders, beside plain NumPy, at sizes that fill no vector."""

from itertools import product

import numpy as np
import pytest

from bruit.codes import Convolutional
from bruit.codes._soft_kernels import are_two_valued, hard_bits, largest_size, quantise, scale_words
from bruit.codes._vector_code import CACHE_LINE, aligned_empty
from bruit.codes.trellis.trellis import Trellis

SIZES = list(product((1, 31, 32, 33, 64), (1, 15, 16, 128, 300)))


@pytest.mark.parametrize(("words", "length"), SIZES)
def test_quantised_words_are_rounded_scaled_and_turned(words: int, length: int) -> None:
    rng = np.random.default_rng(words * length)
    values, factors = rng.normal(0, 3, (words, length)).astype(np.float32), rng.uniform(5, 30, words).astype(np.float32)
    place = rng.permutation(length + 7)[:length]
    out = np.full((length + 7, 64), 99, np.int16)
    quantise(values, factors, place, np.float32(127), out)
    scaled = np.clip(values * factors[:, None], -127, 127)
    np.testing.assert_array_equal(out[place, :words].T, np.trunc(scaled + np.float32(127.5)) - 127)
    np.testing.assert_array_equal(np.delete(out, place, axis=0), 99)


@pytest.mark.parametrize(("words", "length"), SIZES)
def test_hard_bits_are_signs_turned_back(words: int, length: int) -> None:
    rng = np.random.default_rng(words + length)
    total = rng.integers(-2, 3, (length + 5, 64)).astype(np.int16)
    place = rng.permutation(length + 5)[:length]
    out = np.empty((words, length), np.uint8)
    hard_bits(total, place, out)
    np.testing.assert_array_equal(out, total[place, :words].T < 0)


def test_the_largest_size_is_found_and_nan_is_above_all() -> None:
    values = np.array([1, -3.5, 0, 2], np.float32)
    for special, expected in ((-3.0, 3.5), (-np.inf, np.inf), (np.nan, np.nan), (-np.nan, np.nan)):
        values[2] = special
        np.testing.assert_equal(np.int32(largest_size(values.view(np.int32))).view(np.float32), np.float32(expected))


def test_two_valued_words_have_one_size_beside_zero() -> None:
    values = np.array([[0, 2, -2, 0], [0, 0, 0, 0], [2, 2, 1, 2], [0, 1, -2, 0]], np.float32)
    alike = np.empty(4, bool)
    are_two_valued(values, alike)
    assert alike.tolist() == [True, True, False, False]


@pytest.mark.parametrize("length", [1, 2, 63, 64, 65, 300])
def test_a_word_is_scaled_by_its_mean_square_unless_that_loses_most_of_it(length: int) -> None:
    rng = np.random.default_rng(length)
    values = rng.choice([0, 1, 1e-3, 50], (40, length)) * rng.normal(0, 1, (40, length))
    values[0] = 0
    factors = np.empty(40, np.float32)
    lost = scale_words(values.astype(np.float32), np.float32(24), factors)
    with np.errstate(divide="ignore", invalid="ignore"):
        plain = 24 / np.sqrt(np.mean(values**2, axis=1))
        reach = ((np.abs(values) * plain[:, None] >= 1) & (values != 0)).sum(axis=1)
    kept = (values != 0).any(axis=1) & (2 * reach >= (values != 0).sum(axis=1))
    assert lost == (not kept.all())
    np.testing.assert_allclose(factors, np.where(kept, plain, 0), rtol=1e-5)


def test_aligned_arrays_start_a_cache_line() -> None:
    for size in range(1, 9):
        array = aligned_empty((size, 3), np.int16)
        assert (array.shape, array.dtype, array.ctypes.data % CACHE_LINE) == ((size, 3), np.int16, 0)


@pytest.mark.parametrize("ending", ["zero", "open", "bitten"])
def test_the_short_step_of_a_plain_trellis_keeps_the_same_paths(ending: str, monkeypatch: pytest.MonkeyPatch) -> None:
    code = Convolutional((0o171, 0o133), 100, ending=ending)  # type: ignore[arg-type]
    heard = np.random.default_rng(5).normal(0, 1, (70, code.n)).round(1)
    assert code.trellis.plain
    found = code.decode(heard)
    monkeypatch.setattr(Trellis, "plain", property(lambda _: False))
    other = code.decode(heard)
    np.testing.assert_array_equal(found.message, other.message)
    np.testing.assert_array_equal(found.decoded, other.decoded)
