"""The strong source: its cipher, and that nothing it gives is ever given twice."""

import copy
import multiprocessing
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from laws import assert_law
from randomgen import AESCounter

from bruit.errors import InvalidArgument
from bruit.randomness import generator, is_strong, words


def first_words(rng: np.random.Generator) -> tuple[int, ...]:
    return tuple(words(rng, 4).tolist())


def test_the_cipher_is_aes_128() -> None:
    # FIPS 197, appendix C.1: the published key, plaintext and ciphertext
    key = np.frombuffer(bytes(range(16)), np.uint64)
    plain = np.frombuffer(bytes.fromhex("00112233445566778899aabbccddeeff"), np.uint64)
    source = AESCounter(key=key, counter=plain)
    assert source.random_raw(2).tobytes().hex() == "69c4e0d86a7b0430d8cdb78070b4c55a"


def test_none_is_a_fresh_strong_generator() -> None:
    one, other = generator(None), generator()
    assert is_strong(one)
    assert is_strong(None)
    assert first_words(one) != first_words(other)


def test_a_generator_passes_through() -> None:
    brought = np.random.default_rng(3)
    assert generator(brought) is brought
    assert not is_strong(brought)
    assert first_words(brought) == tuple(np.random.default_rng(3).bit_generator.random_raw(4).tolist())


@pytest.mark.parametrize("wrong", [0, 7, "seed", np.random.RandomState(1), np.random.PCG64(1), [1, 2]])
def test_anything_else_is_refused_with_advice(wrong: Any) -> None:
    for door in (generator, is_strong, lambda rng: words(rng, 1)):
        with pytest.raises(InvalidArgument, match="default_rng"):
            door(wrong)


@pytest.mark.parametrize("bits", [np.random.PCG64, np.random.MT19937, np.random.Philox, np.random.SFC64, None])
def test_words_fill_all_64_bits_evenly(bits: type[Any] | None) -> None:
    # 2^18 draws a bit: a bit of probability .51 is missed with probability below 1e-3
    drawn = words(np.random.Generator(bits(5)) if bits else None, 1 << 18)
    assert drawn.dtype == np.uint64
    for bit in range(64):
        ones = int(((drawn >> np.uint64(bit)) & np.uint64(1)).sum())
        assert_law([len(drawn) - ones, ones], [0.5, 0.5], alarm=1e-9 / 64)


def test_many_words_are_fresh_each_time() -> None:
    rng = generator()
    drawn = np.concatenate([words(rng, count) for count in (5000, 1, 4999, 2048, 2047, 0)])
    assert len(set(drawn.tolist())) == len(drawn) == 14095


def test_the_number_of_words_is_checked() -> None:
    for wrong in (-1, 2.0, None):
        with pytest.raises(InvalidArgument, match="count="):
            words(None, wrong)


def test_words_do_not_depend_on_how_they_are_asked_for() -> None:
    whole, pieces = np.random.default_rng(8), np.random.default_rng(8)
    assert np.concatenate([words(pieces, n) for n in (1, 0, 5, 2)]).tolist() == words(whole, 8).tolist()


@pytest.mark.parametrize(
    "clone",
    [copy.copy, copy.deepcopy, lambda source: pickle.loads(pickle.dumps(source)), lambda source: source.spawn(1)[0]],
    ids=["copy", "deepcopy", "pickle", "spawn"],
)
def test_rule_8_noise_is_never_copied(clone: Callable[..., Any]) -> None:
    original = generator()
    source_copy = np.random.Generator(clone(original.bit_generator))
    assert is_strong(source_copy)
    assert not set(words(original, 100).tolist()) & set(words(source_copy, 100).tolist())


@pytest.mark.parametrize(
    "clone", [copy.deepcopy, lambda rng: pickle.loads(pickle.dumps(rng)), lambda rng: rng.spawn(1)[0]]
)
def test_rule_8_a_copied_generator_draws_fresh_noise(clone: Callable[..., Any]) -> None:
    original = generator()
    words(original, 3)  # half-way through a buffered block
    twin = clone(original)
    assert is_strong(twin)
    for count in (100, 5000):
        assert not set(words(original, count).tolist()) & set(words(twin, count).tolist())


def test_rule_8_a_strong_source_shows_no_state_and_takes_no_seed() -> None:
    source = generator().bit_generator
    with pytest.raises(InvalidArgument, match="never be drawn twice"):
        _ = source.state
    with pytest.raises(InvalidArgument, match="never be drawn twice"):
        source.state = AESCounter(1).state
    for door in (source.seed, source.jump, source.jumped, source.advance):  # type: ignore[attr-defined]
        with pytest.raises(InvalidArgument, match="never be drawn twice"):
            door(1)


FORK = """
import os
from bruit.randomness import generator, words
sources = [generator() for _ in range(3)]
for source in sources:
    words(source, 3)
read, write = os.pipe()
if os.fork() == 0:
    grandchild = os.fork()
    if grandchild:
        os.waitpid(grandchild, 0)
    os.write(write, b"".join(words(source, 64).tobytes() + words(source, 3000)[:8].tobytes() for source in sources))
    os._exit(0)
os.wait()
own = b"".join(words(source, 64).tobytes() + words(source, 3000)[:8].tobytes() for source in sources)
child = os.read(read, 1 << 16)
assert len(child) == 2 * len(own), len(child)
pieces = [(own + child)[i : i + 8] for i in range(0, 3 * len(own), 8)]
print(len(pieces), len(set(pieces)))
"""


@pytest.mark.skipif(not hasattr(__import__("os"), "fork"), reason="this system does not fork")
def test_rule_8_a_forked_child_never_repeats_its_parent() -> None:
    # a fresh interpreter, because a test process with threads must not fork
    done = subprocess.run([sys.executable, "-c", FORK], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["648", "648"]


def test_rule_8_a_spawned_process_draws_fresh_noise() -> None:
    original = generator()
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        theirs = pool.map(first_words, [original, original])
    assert len({*theirs, first_words(original)}) == 3


def test_a_seeded_generator_is_copied_as_numpy_copies_it() -> None:
    seeded = np.random.default_rng(4)
    assert first_words(copy.deepcopy(seeded)) == first_words(seeded)
