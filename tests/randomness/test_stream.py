"""Kernels and plain Python read the same words alike, and no block size changes what is drawn."""

from collections.abc import Iterator
from contextlib import contextmanager
from fractions import Fraction
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from bruit import randomness
from bruit.randomness import _bit_kernels, _kernels, noise, reference, stream

SEEDS = st.integers(0, 2**32)
WORD = st.integers(1, 2**63 - 1)
SMALL = st.integers(1, 60)


@contextmanager
def blocks(size: int) -> Iterator[Any]:
    """Feeds every sampler with blocks of `size` words."""
    with mock.patch.multiple(stream, LARGEST_BLOCK=size, SMALLEST_BLOCK=1):
        yield


def seeded(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


def by_reference(draw: Any, seed: int, size: int) -> list[int]:
    """Draws in plain Python from one endless row of words."""
    rng = seeded(seed)
    words = (int(word) for _ in iter(int, 1) for word in randomness.words(rng, 64))
    return [draw(words) for _ in range(size)]


def by_kernel(kernel: Any, parameters: Any, seed: int, size: int) -> list[int]:
    return stream.fill(seeded(seed), np.empty(size, np.int64), kernel, *parameters, each=2).tolist()


def both_ways(kernel: Any, parameters: Any, draw: Any, seed: int, block: int) -> None:
    expected = by_reference(draw, seed, 40)
    assert by_kernel(kernel, parameters, seed, 40) == expected
    with blocks(block):
        assert by_kernel(kernel, parameters, seed, 40) == expected


@given(bound=st.integers(1, 2**64 - 1), seed=SEEDS)
@example(bound=2**63 + 1, seed=1)  # nearly every second word is one too many
def test_multiplied_words_agree(bound: int, seed: int) -> None:
    both_ways(_kernels.fill_uniform, [np.uint64(bound)], lambda words: _signed(reference.below(words, bound)), seed, 1)


def _signed(value: int) -> int:
    return value - 2**64 if value >= 2**63 else value


@given(numerator=st.integers(0, 2**63 - 1), denominator=WORD, seed=SEEDS, block=SMALL)
@example(numerator=5, denominator=1, seed=0, block=1)
@example(numerator=0, denominator=7, seed=0, block=1)
def test_exponential_coins_agree(numerator: int, denominator: int, seed: int, block: int) -> None:
    ratio = Fraction(numerator, denominator)
    top, bottom = ratio.numerator, ratio.denominator
    both_ways(
        _kernels.fill_exp_coins,
        [np.uint64(top), np.uint64(bottom)],
        lambda words: reference.exp_coin(words, top, bottom),
        seed,
        block,
    )


@given(over=WORD | SMALL, under=WORD | SMALL, seed=SEEDS, block=SMALL)
@example(over=2**62, under=1, seed=3, block=2)  # most draws pass the largest int64 and become it
@example(over=2**63 - 1, under=2**63 - 2, seed=3, block=2)
def test_exponential_noise_agrees(over: int, under: int, seed: int, block: int) -> None:
    parameters = [np.uint64(over), np.uint64(under)]
    for kernel, draw in (
        (_kernels.fill_one_sided, reference.one_sided),
        (_kernels.fill_two_sided, reference.two_sided),
    ):
        both_ways(kernel, parameters, lambda words, draw=draw: draw(words, over, under), seed, block)


@given(
    top=st.integers(1, 2**90), bottom=st.integers(1, 2**60), seed=SEEDS, block=SMALL, common=st.sampled_from([1, 3, 24])
)
@example(top=100, bottom=1, seed=0, block=1, common=1)  # a whole deviation
@example(top=1037, bottom=100, seed=0, block=1, common=1)  # one word is enough
@example(top=10**13 + 7, bottom=10**12, seed=0, block=3, common=1)  # two words, and proposals left to plain Python
@example(top=2**31 + 1, bottom=2, seed=0, block=3, common=24)  # a narrow denominator with wide squares
@example(top=10**40 + 7, bottom=10**37, seed=0, block=3, common=24)  # too large for both kernels
def test_gaussian_noise_agrees_on_every_path(top: int, bottom: int, seed: int, block: int, common: int) -> None:
    variance = Fraction(top, bottom)
    expected = by_reference(noise.Proposal.of(variance).draw, seed, 20)
    with mock.patch.object(noise, "COMMON", common):
        assert randomness.discrete_gaussian(variance, 20, rng=seeded(seed)).tolist() == expected
        with blocks(block):
            assert randomness.discrete_gaussian(variance, 20, rng=seeded(seed)).tolist() == expected


@pytest.mark.parametrize(
    ("variance", "path"),
    [
        (100, "narrow"),
        (1037 / 100, "narrow"),
        (Fraction(10**13 + 7, 10**12), "wide"),
        (Fraction(10**40 + 7, 10**37), ""),
    ],
)
def test_each_path_is_taken(variance: Any, path: str) -> None:
    proposal = noise.Proposal.of(randomness.noise.fraction(variance, "variance"))  # type: ignore[attr-defined]
    assert (proposal.fits(2**32, 2**63), proposal.fits(2**63, 2**127)) == (path == "narrow", path != "")


def bits_by_reference(numerator: int, size: int, rng: np.random.Generator) -> list[int]:
    """Lane by lane: four bits from the common words, then eight at a time from a pool."""
    source = (int(word) for _ in iter(int, 1) for word in randomness.words(rng, 64))
    return [_packed(numerator, source) for _ in range(size)]


def _packed(numerator: int, source: Any) -> int:
    planes, pool, result = [next(source) for _ in range(4)], iter(()), 0
    for lane in range(64):
        bits = [plane >> lane & 1 for plane in planes]
        uniform, known = int("".join(map(str, bits)), 2), 4
        while known < 52 and uniform == numerator >> (52 - known):
            piece = next(pool, None)  # type: ignore[var-annotated]
            if piece is None:
                pool = iter(next(source).to_bytes(8, "little"))
                piece = next(pool)
            uniform, known = uniform << 8 | piece, known + 8
        result |= (uniform < numerator >> (52 - known)) << lane
    return result


@given(numerator=st.integers(1, 2**52 - 1), seed=SEEDS, block=SMALL)
@example(numerator=1, seed=0, block=1)
@example(numerator=2**51, seed=0, block=1)
@example(numerator=2**52 - 1, seed=0, block=1)
def test_bit_planes_agree_with_lanes_taken_one_by_one(numerator: int, seed: int, block: int) -> None:
    expected = bits_by_reference(numerator, 20, seeded(seed))
    assert randomness.bernoulli_bits(numerator, 20, rng=seeded(seed)).tolist() == expected
    with blocks(block):
        assert randomness.bernoulli_bits(numerator, 20, rng=seeded(seed)).tolist() == expected


def test_a_lane_that_stays_open_is_read_to_its_last_bit() -> None:
    # words that spell the numerator itself leave every lane equal to it, so none falls below
    numerator = 0b1010_1111
    words = np.array([0] * (4 + 48), np.uint64)
    out = np.zeros(1, np.uint64)
    assert _bit_kernels.fill_bits(words, out, 0, np.uint64(numerator))[0] == 1
    assert out[0] == 2**64 - 1  # zero is below any numerator
    words[4:] = np.frombuffer(numerator.to_bytes(6, "big") * 64, "<u8")
    assert _bit_kernels.fill_bits(words, out, 0, np.uint64(numerator))[0] == 1
    assert out[0] == 0
    words[4:] = np.frombuffer((numerator - 1).to_bytes(6, "big") * 64, "<u8")
    assert _bit_kernels.fill_bits(words, out, 0, np.uint64(numerator))[0] == 1
    assert out[0] == 2**64 - 1


SAMPLERS: dict[str, Any] = {
    "bernoulli": lambda rng: randomness.bernoulli(3 << 48, 300, rng=rng),
    "bernoulli_bits": lambda rng: randomness.bernoulli_bits(12345 << 38, 50, rng=rng),
    "bernoulli_exp": lambda rng: randomness.bernoulli_exp(2.5, 300, rng=rng),
    "choose": lambda rng: randomness.choose([3 << 80, 0, 2 << 80], 300, rng=rng),
    "discrete_gaussian": lambda rng: randomness.discrete_gaussian(30.5, 300, rng=rng),
    "discrete_laplace": lambda rng: randomness.discrete_laplace(Fraction(10, 3), 300, rng=rng),
    "geometric": lambda rng: randomness.geometric(3.3, 300, rng=rng),
    "permutation": lambda rng: randomness.permutation(300, rng=rng),
    "sample_without_replacement": lambda rng: randomness.sample_without_replacement(700, 300, rng=rng),
    "uniform_below": lambda rng: randomness.uniform_below(3 << 61, 300, rng=rng),
}


@pytest.mark.parametrize("name", [name for name in SAMPLERS if name != "sample_without_replacement"])
@pytest.mark.parametrize("block", [1, 2, 7])
def test_words_of_an_unfinished_draw_are_replayed(name: str, block: int) -> None:
    whole = SAMPLERS[name](seeded(11))
    with blocks(block):
        assert SAMPLERS[name](seeded(11)).tolist() == whole.tolist()


@pytest.mark.parametrize("name", SAMPLERS)
def test_rule_8_every_sampler_draws_afresh_without_a_generator(name: str) -> None:
    assert SAMPLERS[name](None).tolist() != SAMPLERS[name](None).tolist()


@pytest.mark.parametrize("name", SAMPLERS)
def test_a_seeded_generator_repeats_itself(name: str) -> None:
    rng = seeded(5)
    first, second = SAMPLERS[name](rng), SAMPLERS[name](rng)
    assert SAMPLERS[name](seeded(5)).tolist() == first.tolist() != second.tolist()
