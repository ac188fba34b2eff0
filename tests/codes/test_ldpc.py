"""LDPC codes: encoders against their checks, decoders against slow NumPy ones and against enumeration."""

from collections.abc import Callable
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import sparse

from bruit.codes import ldpc, nr, wifi
from bruit.codes.low_density._kernels import sum_product
from bruit.codes.low_density._min_sum_kernels import LANES, TOGETHER, find_violations, min_sum_lanes
from bruit.codes.low_density.parity_check import circulants, parity_checks, read_alist
from bruit.errors import BadFile, DecodingFailure, InvalidArgument

HAMMING = np.array([[1, 1, 0, 1, 1, 0, 0], [1, 0, 1, 1, 0, 1, 0], [0, 1, 1, 1, 0, 0, 1]])
TREE = np.array([[1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 1, 0, 0], [0, 0, 0, 0, 1, 1, 1]])


def regular(rows: int, columns: int, weight: int, seed: int) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    matrix = np.zeros((rows, columns), np.uint8)
    for c in range(columns):
        matrix[rng.choice(rows, weight, replace=False), c] = 1
    return matrix[matrix.any(axis=1)]


def slow_sum_product(matrix: Any, heard: Any, iterations: Any, layered: Any) -> Any:
    """Gallager's rule written with dense NumPy."""
    messages, total = np.zeros(matrix.shape), heard.copy()
    for _ in range(iterations):
        if not (matrix @ (total < 0) % 2).any():
            break
        before = total.copy()
        for r, row in enumerate(matrix.astype(bool)):
            inputs = (total if layered else before)[row] - messages[r, row]
            tanh = np.tanh(inputs / 2)
            fresh = [
                2 * np.arctanh(np.clip(np.prod(np.delete(tanh, i)), -1 + 1e-15, 1 - 1e-15)) for i in range(len(tanh))
            ]
            total[row] += np.array(fresh) - messages[r, row]
            messages[r, row] = fresh
    return total


def slow_min_sum(matrix: Any, heard: Any, iterations: Any, grains: Any) -> Any:
    """Layered min-sum scaled by grains / 64 in whole numbers, of which 1 stays 1, one word, row by row."""
    messages, total = np.zeros(matrix.shape, int), heard.astype(int)
    for _ in range(iterations):
        for r, row in enumerate(matrix.astype(bool)):
            inputs = total[row] - messages[r, row]
            least = [min(127, np.abs(np.delete(inputs, i)).min()) for i in range(inputs.size)]
            sign = [(-1) ** (np.delete(inputs, i) < 0).sum() for i in range(inputs.size)]
            fresh = np.array(sign) * np.maximum(np.array(least) * grains // 64, np.minimum(least, 1))
            total[row] = inputs + fresh
            messages[r, row] = fresh
        if total.all() and not (matrix @ (total < 0) % 2).any():
            break
    return total


@settings(max_examples=40)
@given(st.integers(2, 25), st.integers(1, 40), st.integers(2, 4), st.integers(0, 2**32))
def test_any_matrix_encodes_to_words_that_satisfy_it(rows: int, more: int, weight: int, seed: int) -> None:
    matrix = regular(rows, rows + more, min(weight, rows), seed)
    code = ldpc(matrix)
    messages = np.random.default_rng(seed).integers(0, 2, (70, code.k), np.uint8)
    words = code.encode(messages)
    assert not (matrix.astype(int) @ words.T % 2).any()
    np.testing.assert_array_equal(words[:, code.message], messages)
    assert code.k >= matrix.shape[1] - matrix.shape[0]


def test_a_repeated_row_costs_no_message_bit() -> None:
    code = ldpc(np.vstack([HAMMING, HAMMING[:1]]))
    assert (code.n, code.k) == (7, 4)


@pytest.mark.parametrize("layered", [0, 1])
def test_sum_product_follows_gallagers_rule(layered: int) -> None:
    matrix = regular(20, 40, 3, 1)
    graph = parity_checks(matrix)
    for heard in np.random.default_rng(2).normal(1.5, 2, (20, 40)):
        total = np.empty(40)
        sum_product(heard, *graph.flat, 5, layered, total)
        np.testing.assert_allclose(total, slow_sum_product(matrix, heard, 5, layered), rtol=1e-6, atol=1e-6)


def test_sum_product_is_exact_on_a_tree() -> None:
    words = np.array([w for w in product((0, 1), repeat=7) if not (TREE @ w % 2).any()])
    heard = np.random.default_rng(3).normal(0, 1, 7)
    scores = heard @ (1 - 2 * words.T) / 2
    exact = [
        np.logaddexp.reduce(scores[words[:, i] == 0]) - np.logaddexp.reduce(scores[words[:, i] == 1]) for i in range(7)
    ]
    total = np.empty(7)
    sum_product(heard, *parity_checks(np.vstack([TREE])).flat, 50, 0, total)
    if (TREE @ (heard < 0) % 2).any():  # it stops at once on a word
        np.testing.assert_allclose(total, exact, rtol=1e-6)
    code = ldpc(TREE, decoder="sum-product", iterations=50)
    np.testing.assert_array_equal(code.decode(heard).word, (total < 0).astype(np.uint8))


@pytest.mark.parametrize("grains", [48, 55])
@pytest.mark.parametrize("lifting", [1, TOGETHER, 7, 55])
def test_min_sum_counts_as_written(lifting: int, grains: int) -> None:
    base = np.where(
        np.random.default_rng(4).random((4, 8)) < 0.5, np.random.default_rng(5).integers(0, lifting, (4, 8)), -1
    )
    base[np.arange(4), np.arange(4)] = 0
    graph = circulants(base, lifting)
    matrix = graph.matrix().toarray()
    soft = np.random.default_rng(6).normal(20, 30, (graph.variables, LANES)).clip(-127, 127).astype(np.int16)
    total, kept, marks = soft.copy(), np.empty_like(soft), np.empty((3, LANES), np.int16)
    messages, work = (np.empty((rows, LANES), np.int8) for rows in (graph.column.size * lifting, 8 * TOGETHER))
    blocks = (graph.row_start, graph.column, graph.shift, lifting)
    min_sum_lanes(total, *blocks, 1, np.int16(grains), messages, work, kept, marks)
    for lane in (0, 5, LANES - 1):
        np.testing.assert_array_equal(total[:, lane], slow_min_sum(matrix, soft[:, lane], 1, grains))
    good = total.all(axis=0) & ~(matrix.astype(int) @ (total < 0) % 2).any(axis=0)
    np.testing.assert_array_equal(marks[0] < 0, good)
    total[:], bad = 100, np.zeros(LANES, np.int16)
    total[3, 7], bad[9] = 0, -1
    assert not find_violations(total, *blocks, bad)
    np.testing.assert_array_equal(np.flatnonzero(bad < 0), [7, 9])
    total[0, :] = -100
    assert find_violations(total, *blocks, bad) == (matrix[:, 0].sum() > 0)


def test_a_word_that_is_done_stays_so_beside_words_that_are_not() -> None:
    """On a graph with short cycles more turns lead some words away from the codeword that they had found."""
    code, rng = ldpc([[1, 1, 0, 1, 1, 0, 0], [1, 0, 1, 1, 0, 1, 0], [0, 1, 1, 1, 0, 0, 1]]), np.random.default_rng(5)
    words = code.encode(code.random_messages(640, rng))
    heard = (
        rng.choice([1.0, 2.0, 3.0], words.shape) * np.where(rng.random(words.shape) < 0.1, -1, 1) * (1 - 2.0 * words)
    )
    together, alone = code.decode(heard), [code.decode(row) for row in heard]
    np.testing.assert_array_equal(together.decoded, [found.decoded for found in alone])
    np.testing.assert_array_equal(together.word, [found.word for found in alone])


@pytest.mark.parametrize("decoder", ["min-sum", "sum-product", "layered sum-product"])
@pytest.mark.parametrize("code", [wifi(648, "1/2"), nr(60, 150), nr(20, 2000), nr(700, 1000)], ids=str)
def test_words_come_back_through_noise(code: Any, decoder: Any) -> None:
    code = replace(code, decoder=decoder)
    rng = np.random.default_rng(7)
    messages = rng.integers(0, 2, (40, code.k), np.uint8)
    deviation = 0.5 if code.rate > 0.45 else 0.7
    heard = 2 / deviation**2 * (1.0 - 2.0 * code.encode(messages) + deviation * rng.normal(size=(40, code.n)))
    decoded = code.decode(heard)
    assert decoded.decoded.all()
    np.testing.assert_array_equal(decoded.message, messages)
    np.testing.assert_array_equal(decoded.word, code.encode(messages))


def test_noise_alone_is_a_stated_failure() -> None:
    code = wifi(648, "5/6")
    noise = np.random.default_rng(8).normal(0, 2, (3, 648))
    decoded = code.decode(noise)
    assert not decoded.decoded.any()
    np.testing.assert_array_equal(decoded.word, noise < 0)
    with pytest.raises(DecodingFailure, match="3 of 3"):
        code.decode(noise, raise_on_failure=True)


def test_erased_bits_are_filled_in() -> None:
    code = wifi(648, "1/2")
    word = code.encode(np.random.default_rng(9).integers(0, 2, (4, code.k), np.uint8))
    heard = np.where(word == 0, np.inf, -np.inf)
    heard[:, np.random.default_rng(10).choice(648, 230, replace=False)] = 0.0
    np.testing.assert_array_equal(code.decode(heard).word, word)


def test_dense_sparse_and_alist_are_the_same_code(tmp_path: Path) -> None:
    by_column = [" ".join(str(r + 1) for r in np.flatnonzero(col)) for col in HAMMING.T]
    by_row = [" ".join(str(c + 1) for c in np.flatnonzero(row)) for row in HAMMING]
    degrees = [" ".join(map(str, HAMMING.sum(axis=a))) for a in (0, 1)]
    path = tmp_path / "hamming.alist"
    path.write_text("\n".join(["7 3", "3 4", *degrees, *by_column, *by_row]) + "\n")
    np.testing.assert_array_equal(read_alist(path).matrix().toarray(), HAMMING)
    messages = np.array(list(product((0, 1), repeat=4)))
    words = ldpc(HAMMING).encode(messages)
    np.testing.assert_array_equal(ldpc(sparse.coo_array(HAMMING)).encode(messages), words)
    np.testing.assert_array_equal(ldpc(path).encode(messages), words)
    path.write_text("\n".join(["7 3", "3 4", *degrees, *by_column, *by_row[:2]]))
    with pytest.raises(BadFile):
        read_alist(path)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: ldpc(np.zeros((2, 4))),
        lambda: ldpc([[1, 2, 0]]),
        lambda: ldpc(np.eye(3)),
        lambda: ldpc([[1, 1, 0], [0, 0, 0]]),
        lambda: ldpc(HAMMING, decoder="luck"),
        lambda: ldpc(HAMMING, iterations=0),
        lambda: ldpc(HAMMING, factor=0.0),
        lambda: nr(60, 150, factor=1.5),
        lambda: wifi(649, "1/2"),
        lambda: nr(9000, 20000),
        lambda: nr(100, 100),
        lambda: nr(100, 300, base_graph=3),
        lambda: wifi(648, "1/2").decode(np.full(648, np.nan)),
        lambda: wifi(648, "1/2").decode(np.zeros((0, 648))),
        lambda: wifi(648, "1/2").decode(np.zeros(647)),
        lambda: wifi(648, "1/2").encode(np.full(324, 2)),
    ],
)
def test_what_is_no_code_or_no_word_is_refused(wrong: Callable[..., Any]) -> None:
    with pytest.raises(InvalidArgument):
        wrong()
