"""The tables of the standards: their structure, and what is known of them."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bruit.codes import nr, wifi, wimax
from bruit.codes.low_density.standards import LIFTINGS, nr_shape, nr_table, shift_tables
from bruit.errors import InvalidArgument

WIFI = shift_tables("wifi.txt")
WIMAX = shift_tables("wimax.txt")
RATES = {"1/2": 12, "2/3": 8, "3/4": 6, "5/6": 4}


def four_cycles(matrix: Any) -> int:
    """Pairs of checks that share two variables or more."""
    shared = (matrix.astype(np.int64) @ matrix.astype(np.int64).T).tolil()
    shared.setdiag(0)
    return int((shared.tocsr() > 1).sum()) // 2


def test_there_are_twelve_wifi_codes() -> None:
    assert sorted(WIFI) == sorted((n, rate) for n in (648, 1296, 1944) for rate in RATES)


@pytest.mark.parametrize(("n", "rate"), sorted(WIFI))
def test_wifi_tables_have_their_shape_and_a_double_diagonal(n: int, rate: str) -> None:
    table, rows = WIFI[n, rate], RATES[rate]
    assert table.shape == (rows, 24)
    assert table.max() < n // 24
    parity = table[:, 24 - rows :]
    first = np.flatnonzero(parity[:, 0] >= 0)
    assert first.size == 3
    assert (first[0], first[2]) == (0, rows - 1)
    assert parity[0, 0] == parity[-1, 0]
    assert parity[first[1], 0] == 0
    expected = np.full((rows, rows - 1), -1)
    expected[np.arange(rows - 1), np.arange(rows - 1)] = expected[np.arange(1, rows), np.arange(rows - 1)] = 0
    np.testing.assert_array_equal(parity[:, 1:], expected)


FOUR_CYCLES = {(648, "3/4"): 2 * 27, (1296, "2/3"): 2 * 54, (1944, "2/3"): 81}


@pytest.mark.parametrize(("n", "rate"), sorted(WIFI))
def test_wifi_graphs_have_no_four_cycles_but_in_three_codes(n: int, rate: str) -> None:
    assert four_cycles(wifi(n, rate).graph.matrix()) == FOUR_CYCLES.get((n, rate), 0)


def test_rows_6_and_10_of_the_long_half_rate_code_stand_where_the_standard_has_them() -> None:
    table = WIFI[1944, "1/2"]  # a table in circulation has these two rows shifted
    assert {int(c): int(s) for c, s in enumerate(table[6]) if s >= 0} == {
        0: 69, 1: 79, 2: 79, 6: 56, 8: 52, 12: 0, 18: 0, 19: 0,
    }  # fmt: skip
    assert {int(c): int(s) for c, s in enumerate(table[10]) if s >= 0} == {
        0: 2,
        1: 56,
        3: 57,
        4: 35,
        10: 12,
        22: 0,
        23: 0,
    }


def test_there_are_51_lifting_sizes_from_2_to_384() -> None:
    assert len(LIFTINGS) == 51
    assert (LIFTINGS[0], LIFTINGS[-1]) == (2, 384)


@pytest.mark.parametrize(("graph", "rows", "columns", "edges"), [(1, 46, 68, 316), (2, 42, 52, 197)])
@pytest.mark.parametrize("lifting", [2, 15, 104, 208, 384])
def test_nr_tables_have_their_shape(graph: int, rows: int, columns: int, edges: int, lifting: int) -> None:
    table = nr_table(graph, lifting)
    assert table.shape == (rows, columns)
    assert (table >= 0).sum() == edges
    assert table.max() < lifting
    message = columns - rows
    np.testing.assert_array_equal(table[4:, message + 4 :] >= 0, np.eye(rows - 4, dtype=bool))
    np.testing.assert_array_equal(np.diag(table[4:, message + 4 :]), 0)
    assert not (table[:4, message + 4 :] >= 0).any()
    core = table[:4, message + 1 : message + 4]  # a double diagonal
    np.testing.assert_array_equal(core >= 0, [[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1]])


@pytest.mark.parametrize("lifting", LIFTINGS)
@pytest.mark.parametrize("graph", [1, 2])
def test_every_nr_graph_has_full_rank_and_encodes(graph: int, lifting: int) -> None:
    k = (22 if graph == 1 else 10) * lifting
    code = nr(k, (66 if graph == 1 else 50) * lifting, base_graph=graph)
    if graph == 1 or k > 640:
        assert code.graph.lifting == lifting
    messages = np.random.default_rng(lifting).integers(0, 2, (2, k), np.uint8)
    words = code._words(messages)
    np.testing.assert_array_equal(words[:, : k - 2 * code.graph.lifting], messages[:, 2 * code.graph.lifting :])
    assert code.decode(words).decoded.all()


@pytest.mark.parametrize(
    ("k", "n", "graph", "lifting"),
    [(972, 1944, 2, 104), (8448, 12672, 1, 384), (292, 400, 2, 40), (3824, 5736, 2, 384), (3825, 5738, 1, 176)],
)
def test_nr_chooses_graph_and_lifting_as_the_standard(k: int, n: int, graph: int, lifting: int) -> None:
    assert nr_shape(k, n, None) == (graph, lifting)


@pytest.mark.parametrize("rate", ["1/2", "2/3A", "2/3B", "3/4A", "3/4B", "5/6"])
def test_wimax_tables_have_their_shape_and_a_double_diagonal(rate: str) -> None:
    table, rows = WIMAX[2304, rate], RATES[rate[:3]]
    assert table.shape == (rows, 24)
    assert table.max() < 96
    first = np.flatnonzero(table[:, 24 - rows] >= 0)
    assert first.size == 3
    assert (first[0], first[2]) == (0, rows - 1)
    assert table[0, 24 - rows] == table[-1, 24 - rows]
    expected = np.full((rows, rows - 1), -1)
    expected[np.arange(rows - 1), np.arange(rows - 1)] = expected[np.arange(1, rows), np.arange(rows - 1)] = 0
    np.testing.assert_array_equal(table[:, 25 - rows :], expected)


@pytest.mark.parametrize("rate", ["1/2", "2/3A", "2/3B", "3/4A", "3/4B", "5/6"])
@pytest.mark.parametrize("n", range(576, 2305, 96))
def test_every_wimax_code_encodes(n: int, rate: str) -> None:
    code = wimax(n, rate)
    assert (code.n, code.k) == (n, n * int(rate[0]) // int(rate[2]))
    words = code.encode(np.random.default_rng(n).integers(0, 2, (2, code.k), np.uint8))
    assert not (code.graph.matrix().astype(np.int64) @ words.T % 2).any()


@pytest.mark.parametrize(("n", "rate"), [(577, "1/2"), (480, "1/2"), (2400, "1/2"), (576, "2/3")])
def test_lengths_and_rates_that_wimax_has_not_are_refused(n: int, rate: str) -> None:
    with pytest.raises(InvalidArgument, match="2/3A"):
        wimax(n, rate)


VERSIONS = json.loads((Path(__file__).parent / "vectors" / "sionna_versions.json").read_text())


@pytest.mark.parametrize("vector", VERSIONS, ids=lambda v: f"{v['k']} {v['n']} {v['interleaved']} rv{v['version']}")
def test_all_redundancy_versions_and_interleavers_are_sionnas(vector: dict[str, Any]) -> None:
    terms = {name: vector[name] for name in ("version", "interleaved")}
    code = nr(vector["k"], vector["n"], **terms)
    message, word = (
        np.unpackbits(np.frombuffer(bytes.fromhex(vector[name]), np.uint8), count=size)
        for name, size in (("message", code.k), ("word", code.n))
    )
    np.testing.assert_array_equal(code.encode(message), word)


@pytest.mark.parametrize("version", [0, 1, 2, 3])
def test_every_version_that_is_sent_twice_is_heard_twice(version: int) -> None:
    """Bits sent again add up, however they are interleaved: a word survives the loss of half of what repeats it."""
    code = nr(60, 600, version=version, interleaved=4)
    message = code.random_messages(8, np.random.default_rng(version))
    heard = 1 - 2.0 * code.encode(message)
    assert (np.bincount(code.sent) > 1).any()
    heard[:, np.random.default_rng(5).choice(600, 300, replace=False)] = 0.0
    np.testing.assert_array_equal(code.decode(heard).message, message)


@pytest.mark.parametrize("terms", [{"version": 4}, {"version": -1}, {"interleaved": 7}, {"interleaved": 0}])
def test_versions_that_do_not_exist_are_refused(terms: Any) -> None:
    with pytest.raises(InvalidArgument):
        nr(100, 300, **terms)
