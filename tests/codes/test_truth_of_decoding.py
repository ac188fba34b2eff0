"""What a soft decoder may say: nothing heard is a failure, and what is decoded agrees with what was heard."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from bruit.codes import (
    Bch,
    CcsdsTurbo,
    Convolutional,
    Ldpc,
    LteTurbo,
    RaptorQ,
    ReedSolomon,
    Repetition,
    dvb_s2,
    golay,
    nr,
    nr_polar,
    polar,
    reed_muller,
    simulate,
    wifi,
    wimax,
)
from bruit.codes.soft import CERTAIN, read_soft_words
from bruit.errors import DecodingFailure

K7 = (0o171, 0o133)
SOFT: dict[str, Any] = {
    "repetition": Repetition(3, k=4),
    "viterbi": Convolutional(K7, 30),
    "viterbi, any generators": Convolutional((0o5, 0o7, 0o6), 30),
    "viterbi, open": Convolutional(K7, 30, ending="open"),
    "viterbi, bitten": Convolutional(K7, 30, ending="bitten"),
    "viterbi, long and bitten": Convolutional((0o5, 0o7), 40, ending="bitten"),
    "viterbi, recursive": Convolutional((0o33,), 30, feedback=0o23),
    "viterbi, punctured": Convolutional(K7, 30, puncture=("110", "101")),
    "bcjr": Convolutional(K7, 30, decoder="bcjr"),
    "bcjr, bitten": Convolutional(K7, 30, ending="bitten", decoder="bcjr"),
    "max-log": Convolutional(K7, 30, decoder="max-log"),
    "turbo": LteTurbo(40),
    "turbo, bits not sent": LteTurbo(40, length=100, version=1),
    "min-sum": wifi(648, "1/2"),
    "min-sum, unsent bits": nr(60, 150),
    "min-sum, bits sent twice": nr(20, 300),
    "sum-product": nr(60, 150, decoder="sum-product"),
    "layered sum-product": wimax(576, "3/4A", decoder="layered sum-product"),
    "successive cancellation": polar(16, 32, paths=1),
    "list": polar(16, 32),
    "ordered statistics": golay(),
    "ordered statistics, no change tried": reed_muller(1, 5, depth=0),
    "list and checksum": nr_polar(40, 108, link="downlink"),
    "list, bits not sent": nr_polar(20, 100),
    "list, bits known": nr_polar(64, 120),
    "list, bits sent twice": nr_polar(20, 300),
}
LARGE: dict[str, Any] = {
    "min-sum, many bits": dvb_s2(16200, "3/4", decoder="min-sum"),
    "log-MAP turbo": CcsdsTurbo(1784, "1/3"),
    "log-MAP turbo, punctured": CcsdsTurbo(1784),
}
every_decoder = pytest.mark.parametrize("code", SOFT.values(), ids=SOFT.keys())


@every_decoder
def test_nothing_heard_is_a_failure(code: Any) -> None:
    found = code.decode(np.zeros((3, code.n)))
    assert not found.decoded.any()
    assert not found.corrected.any()


def heard_words(code: Repetition, data: Any, kind: str) -> tuple[NDArray[np.uint8], NDArray[np.float64]]:
    """Words of the code, heard with errors, losses and certainties that Hypothesis chooses."""
    seed = data.draw(st.integers(0, 2**32))
    rng = np.random.default_rng(seed)
    words = code.encode(rng.integers(0, 2, (4, code.k), np.uint8))
    likelihoods = 1 - 2.0 * words
    if kind == "noise":
        likelihoods = likelihoods + rng.normal(0, data.draw(st.floats(0.1, 2)), words.shape)
    else:
        likelihoods = np.where(rng.random(words.shape) < data.draw(st.floats(0, 0.1)), -likelihoods, likelihoods)
    sure = rng.random(words.shape) < data.draw(st.sampled_from([0, 0.2, 1]))
    likelihoods[sure] *= np.inf
    likelihoods[rng.random(words.shape) < data.draw(st.floats(0, 1))] = 0.0
    return words, likelihoods


@every_decoder
@settings(max_examples=15)
@given(data=st.data(), kind=st.sampled_from(["noise", "errors"]))
def test_what_is_decoded_is_a_word_that_agrees_with_what_was_heard(code: Any, data: Any, kind: str) -> None:
    _, likelihoods = heard_words(code, data, kind)
    found = code.decode(likelihoods)
    good = found.decoded
    np.testing.assert_array_equal(found.word[good], code.encode(found.message)[good])
    contradicted = np.isinf(likelihoods) & (found.word != (likelihoods < 0))
    assert not (contradicted.any(axis=1) & good).any()


@every_decoder
@settings(max_examples=15)
@given(data=st.data(), loss=st.floats(0, 1))
def test_over_erasures_what_is_decoded_is_what_was_sent(code: Any, data: Any, loss: float) -> None:
    """Losses alone never make a wrong word: a word that is decoded although two fit what was heard would be."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    words = code.encode(rng.integers(0, 2, (4, code.k), np.uint8))
    likelihoods = np.where(rng.random(words.shape) < loss, 0.0, np.where(words == 0, np.inf, -np.inf))
    found = code.decode(likelihoods)
    np.testing.assert_array_equal(found.word[found.decoded], words[found.decoded])


@every_decoder
@pytest.mark.parametrize("times", [1e3, 1e6, 1e12])
def test_a_few_far_surer_bits_do_not_drown_the_others(code: Any, times: float) -> None:
    """Known bits are often given as a large number: what is left of the others then still tells the word."""
    messages = code.random_messages(20, np.random.default_rng(6))
    likelihoods = 1 - 2.0 * code.encode(messages)
    likelihoods[:, : max(1, code.n // 8)] *= times
    np.testing.assert_array_equal(code.decode(likelihoods, raise_on_failure=True).message, messages)


@every_decoder
@settings(max_examples=15)
@given(data=st.data(), faint=st.sampled_from([1e-2, 1e-3, 1e-6]), share=st.floats(0, 1))
def test_what_was_heard_without_an_error_is_never_decoded_wrongly(
    code: Any, data: Any, faint: float, share: float
) -> None:
    """However unequally sure the bits are: rounding the faint ones away may leave a failure, never another word."""
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    words = code.encode(code.random_messages(4, rng))
    found = code.decode((1 - 2.0 * words) * np.where(rng.random(words.shape) < share, faint, 1))
    np.testing.assert_array_equal(found.word[found.decoded], words[found.decoded])


WEIGHTS: dict[str, Any] = {
    "nearly equal": lambda rng, shape: rng.uniform(0.01, 1, shape),
    "a few far surer": lambda rng, shape: rng.pareto(0.5, shape) + 1e-3,
    "very unequal": lambda rng, shape: np.exp(rng.normal(0, 10, shape)),
    "hardly heard": lambda rng, shape: np.full(shape, 1e-40),
    "certain in part": lambda rng, shape: rng.choice([np.inf, 1e30, 1e18, 1, 1e-20], shape),
}


@pytest.mark.parametrize("code", [*SOFT.values(), *LARGE.values()], ids=[*SOFT.keys(), *LARGE.keys()])
@pytest.mark.parametrize("weights", WEIGHTS.values(), ids=WEIGHTS.keys())
@pytest.mark.parametrize("kind", ["f4", ">f8"])
def test_what_was_heard_without_an_error_is_decoded_however_unequally_sure(code: Any, weights: Any, kind: str) -> None:
    """Where every bit was heard and all are a codeword, that is the likeliest one, whatever the weights."""
    rng = np.random.default_rng(8)
    messages = code.random_messages(4, rng)
    words = code.encode(messages)
    found = code.decode(((1 - 2.0 * words) * weights(rng, words.shape)).astype(kind), raise_on_failure=True)
    np.testing.assert_array_equal(found.message, messages)
    np.testing.assert_array_equal(found.word, words)
    assert not found.corrected.any()


@pytest.mark.parametrize("code", [*SOFT.values(), *LARGE.values()], ids=[*SOFT.keys(), *LARGE.keys()])
def test_no_word_is_read_otherwise_beside_others(code: Any) -> None:
    """Words of all kinds in one batch, near their threshold: plain bits, noise, certain, lost and very unequal bits."""
    rng = np.random.default_rng(11)
    words = code.encode(code.random_messages(12, rng))
    noisy = 2 * (1 - 2.0 * words + rng.normal(0, 0.9, words.shape))
    certain = np.where(rng.random(words.shape) < 0.12, np.inf * (1 - 2.0 * words), noisy)
    lost = np.where(rng.random(words.shape) < 0.2, 0.0, noisy)
    unequal = noisy * np.exp(rng.normal(0, 3, words.shape))
    kinds = np.arange(12)[:, None] % 6
    heard = np.choose(kinds, [np.sign(noisy), noisy, certain, lost, unequal, 5 - 10.0 * words])
    together = code.decode(heard)
    for at, row in enumerate(heard):
        alone = code.decode(row)
        assert together.decoded[at] == alone.decoded
        np.testing.assert_array_equal(together.word[at], alone.word)
        np.testing.assert_array_equal(together.message[at], alone.message)


@pytest.mark.parametrize("code", [LteTurbo(1024), CcsdsTurbo(1784, "1/3")], ids=str)
def test_a_turbo_word_is_decoded_where_both_registers_agree(code: Any) -> None:
    """Far below its threshold every word comes out wrong, and none is called decoded; well above all are."""
    rng = np.random.default_rng(9)
    words = code.encode(code.random_messages(40, rng))
    for deviation, share in ((2.0, 0.0), (0.6, 1.0)):
        heard = 2 / deviation**2 * (1 - 2.0 * words + rng.normal(0, deviation, words.shape))
        found = code.decode(heard)
        assert found.decoded.mean() == share
        assert (found.word == words).all(axis=1).mean() == share


@pytest.mark.parametrize("code", [ReedSolomon(15, 11), ReedSolomon(300, 280), Bch(31, 16), RaptorQ(10, 14)], ids=str)
def test_a_word_that_lost_too_much_is_a_failure_beside_one_that_did_not(code: Any) -> None:
    rng, most = np.random.default_rng(10), 2 * code.corrects if isinstance(code, Bch) else code.n - code.k
    words = code.encode(code.random_messages(code.n + 1, rng))
    lost = np.array([np.isin(np.arange(code.n), rng.permutation(code.n)[:count]) for count in range(code.n + 1)])
    received = np.where(lost, 0, words).astype(words.dtype)
    found = code.decode(received, erasures=lost)
    np.testing.assert_array_equal(found.decoded, lost.sum(axis=1) <= most)
    np.testing.assert_array_equal(found.word, np.where(found.decoded[:, None], words, received))
    assert (found.checks == np.maximum(0, code.n - code.k - lost.sum(axis=1))).all() or isinstance(code, Bch)
    with pytest.raises(DecodingFailure, match="beyond what"):
        code.decode(received, erasures=lost, raise_on_failure=True)
    frame = simulate(code, "erasure", [0.9], words=100, rng=rng)
    assert frame["undetected"][0] == 0 < frame["word_errors"][0]


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e15, 9e17])
@pytest.mark.parametrize("name", ["repetition", "viterbi", "max-log", "turbo", "min-sum", "list", "ordered statistics"])
def test_decoders_that_need_no_true_scale_take_any(name: str, scale: float) -> None:
    code = SOFT[name]
    messages = code.random_messages(5, np.random.default_rng(7))
    found = code.decode(scale * (1 - 2.0 * code.encode(messages)), raise_on_failure=True)
    np.testing.assert_array_equal(found.message, messages)


def test_a_certain_bit_counts_more_than_any_that_was_heard() -> None:
    heard = np.zeros((1, 20))
    heard[0, :3] = np.inf, -np.inf, 5
    assert read_soft_words(heard, 20).likelihoods[0, :3].tolist() == [5 * CERTAIN, -5 * CERTAIN, 5]


def test_what_rounding_leaves_of_a_sum_decides_nothing() -> None:
    assert 0.1 + 0.2 - 0.3 != 0
    found = Repetition(3, k=3).decode([0.1, 0.2, -0.3, 0.1, 0.2, 0.3, np.inf, -1, -1])
    assert not found.decoded
    assert Repetition(3).decode([np.inf, -1.0, -1.0], raise_on_failure=True).message.tolist() == [0]


@pytest.mark.parametrize("word", [0, 1])
def test_two_equal_words_are_a_failure_however_they_are_ordered(word: int) -> None:
    """Half of the bits of one word, half of another: Viterbi finds two that are equally far."""
    code = Convolutional((0o5, 0o7), 4)
    words = code.encode(np.array(list(product((0, 1), repeat=4)), np.uint8))
    differ = np.flatnonzero(words[0] != words[5])
    middle = words[word * 5].copy()
    middle[differ[: differ.size // 2]] ^= 1
    assert differ.size % 2 == 0
    distances = (words != middle).sum(axis=1)
    found = code.decode(1 - 2.0 * middle)
    assert found.decoded == (np.count_nonzero(distances == distances.min()) == 1)


def peel(matrix: Any, known: Any) -> Any:
    """The bits that checks with one unknown bit tell, one after the other."""
    known = known.copy()
    while True:
        unknown = matrix & ~known
        told = unknown[unknown.sum(axis=1) == 1].any(axis=0)
        if not told.any():
            return known
        known |= told


@settings(max_examples=60)
@given(st.sampled_from([wimax(576, "1/2", iterations=600), nr(60, 150, iterations=600)]), st.data())
def test_min_sum_over_erasures_is_peeling(code: Ldpc, data: Any) -> None:
    rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
    words = code.encode(rng.integers(0, 2, (8, code.k), np.uint8))
    lost = rng.random(words.shape) < data.draw(st.floats(0.3, 0.6))
    found = code.decode(np.where(lost, 0.0, 1 - 2.0 * words))
    matrix = code.graph.matrix().toarray().astype(bool)
    known = np.zeros((8, code.graph.variables), bool)
    known[:, code.absent] = True
    for row, kept in zip(known, ~lost, strict=True):
        row[code.sent[kept]] = True
    np.testing.assert_array_equal(found.decoded, [peel(matrix, row).all() for row in known])
    np.testing.assert_array_equal(found.word[found.decoded], words[found.decoded])


def test_min_sum_loses_no_more_words_to_erasures_than_sum_product() -> None:
    """At loss 0.40 the WiMAX code keeps what peeling keeps; a word of zeros is no easier than another."""
    rates = [
        simulate(code, "erasure", [0.40], word_errors=2000, words=2000, rng=np.random.default_rng(1))["word_errors"][0]
        for code in (wimax(576, "1/2", iterations=60), wimax(576, "1/2", decoder="layered sum-product", iterations=60))
    ]
    assert rates[0] == rates[1]
    assert 0.04 * 2000 < rates[0] < 0.08 * 2000  # 0.056; 0.20 where messages fade on their way
    lost = np.random.default_rng(2).random((200, 1944)) < 0.8
    assert not nr(972, 1944).decode(np.where(lost, 0.0, np.inf)).decoded.any()


def test_equally_sure_bits_are_decoded_with_a_factor_of_their_own() -> None:
    code, rng = wimax(576, "1/2", iterations=50), np.random.default_rng(3)
    words = code.encode(rng.integers(0, 2, (6000, code.k), np.uint8))
    heard = (words ^ (rng.random(words.shape) < 0.06)).astype(np.uint8)
    failed = [(~c.decode(heard).decoded).sum() for c in (code, wimax(576, "1/2", iterations=50, factor=0.75))]
    assert failed[0] < 0.75 * failed[1]
    mixed = np.where(np.arange(6)[:, None] % 2, 1 - 2.0 * heard[:6], rng.normal(1 - 2.0 * words[:6], 0.7))
    apart = [code.decode(row) for row in mixed]
    together = code.decode(mixed)
    np.testing.assert_array_equal(together.message, [found.message for found in apart])
    np.testing.assert_array_equal(together.decoded, [found.decoded for found in apart])


@pytest.mark.parametrize(("n", "t"), [(7, 3), (15, 7), (31, 15), (63, 31)])
def test_bch_counts_its_roots_to_the_next_that_is_missing(n: int, t: int) -> None:
    code = Bch(n, 1)
    assert code.corrects == t
    word = code.encode([1])
    word[np.random.default_rng(n).permutation(n)[:t]] ^= 1
    assert code.decode(word).message.tolist() == [1]


@pytest.mark.parametrize("generators", [K7, (0o5, 0o7), (0o133, 0o171, 0o165)])
def test_a_short_bitten_word_is_the_nearest_of_all(generators: tuple[Any, ...]) -> None:
    code = Convolutional(generators, 8, ending="bitten")
    every = np.array(list(product((0, 1), repeat=8)), np.uint8)
    signs = 1 - 2.0 * code.encode(every)
    rng = np.random.default_rng(4)
    heard = signs[rng.integers(0, 256, 500)] + rng.normal(0, 0.9, (500, code.n))
    scores = np.sort(heard @ signs.T, axis=1)
    clear = scores[:, -1] - scores[:, -2] > 0.02 * np.abs(heard).sum(axis=1)  # beyond the grain of whole numbers
    nearest = every[(heard @ signs.T).argmax(axis=1)]
    np.testing.assert_array_equal(code.decode(heard).message[clear], nearest[clear])
