"""The kernels beside plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from laws import assert_law
from numpy.typing import NDArray

from bruit.learning.trees import _additive_kernels
from bruit.learning.trees import _growing_kernels as kernels
from bruit.learning.trees._growing_kernels import CURVED, ENTROPY, GINI, GRADIENT, PACK, Data
from bruit.learning.trees.binning import Bins
from bruit.learning.trees.growing import Binned, Growth

ROWS, COLUMNS, BINS = 60, 3, 5


def table(seed: int, *, categorical: bool = False) -> tuple[Binned, NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(seed)
    values = rng.integers(0, BINS, (ROWS, COLUMNS))
    edges = tuple(np.arange(BINS - 1, dtype=float) for _ in range(COLUMNS))
    bins = Bins(edges, np.full(COLUMNS, categorical), np.full(COLUMNS, BINS, np.int64))
    stats = np.column_stack([rng.normal(size=ROWS), np.ones(ROWS)])
    return Binned.of(bins, values), stats, rng.integers(0, 3, ROWS)


def histogram(data: Binned, rows: NDArray[np.int64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The sums of every channel over the bins of all columns, by NumPy."""
    cells = data.codes[rows] + data.bins.offsets[:-1]
    out = np.zeros((int(data.bins.offsets[-1]), weights.shape[1]))
    for channel in range(weights.shape[1]):
        for column in range(COLUMNS):
            out[:, channel] += np.bincount(cells[:, column], weights[rows, channel], len(out))
    return out


@pytest.mark.parametrize("kind", [CURVED, GRADIENT, GINI, ENTROPY])
def test_a_histogram_holds_the_sums_of_every_bin(kind: int) -> None:
    data, stats, labels = table(1)
    rows = np.arange(5, 40)
    channels = 2 if kind <= 0 else 3
    whole, some = np.zeros((COLUMNS * BINS, channels)), np.ones((COLUMNS * BINS, channels))
    node = Data(data.codes, data.turned, stats, labels, np.arange(ROWS, dtype=np.int32))
    kernels.add_rows(node, 5, 40, kind, data.bins.offsets, whole)
    kernels.add_rows_of_columns(node, 5, 40, kind, data.bins.offsets, np.array([0, 2]), some)
    weights = stats if kind <= 0 else stats[:, :1] * (labels[:, None] == np.arange(3))
    expected = histogram(data, rows, weights)
    np.testing.assert_allclose(whole, expected, atol=1e-12)
    np.testing.assert_allclose(some[:BINS], expected[:BINS], atol=1e-12)
    np.testing.assert_array_equal(some[BINS : 2 * BINS], 1.0)


def impurity(labels: NDArray[np.int64], kind: int) -> float:
    """n times the impurity of some labels, by its definition."""
    share = np.bincount(labels, minlength=3) / max(len(labels), 1)
    share = share[share > 0]
    return float(len(labels) * ((1 - (share**2).sum()) if kind == GINI else -(share * np.log2(share)).sum()))


@pytest.mark.parametrize("kind", [GRADIENT, GINI, ENTROPY])
@given(seed=st.integers(0, 10_000))
@settings(max_examples=20)
def test_the_first_split_is_the_best_of_all(kind: int, seed: int) -> None:
    data, stats, labels = table(seed)
    tree, leaf_of = Growth(kind, depth=1).grown(
        data, stats if kind == 0 else stats[:, 1:], labels, channels=2 if kind == 0 else 3
    )

    def cost(rows: NDArray[np.bool_]) -> float:
        if kind != GRADIENT:
            return impurity(labels[rows], kind)
        return float(((stats[rows, 0] - stats[rows, 0].mean()) ** 2).sum()) if rows.any() else 0.0

    sides = [data.codes[:, column] <= last for column in range(COLUMNS) for last in range(BINS - 1)]
    everybody = np.ones(ROWS, bool)
    gains = [cost(everybody) - cost(left) - cost(~left) for left in sides if left.any() and not left.all()]
    assert tree.gain[0] == pytest.approx(max(gains), abs=1e-9)
    left = leaf_of == tree.left[0]
    assert cost(everybody) - cost(left) - cost(~left) == pytest.approx(max(gains), abs=1e-9)


@given(seed=st.integers(0, 10_000))
@settings(max_examples=15)
def test_the_best_subset_of_categories_is_found(seed: int) -> None:
    data, stats, labels = table(seed, categorical=True)
    tree, _ = Growth(GRADIENT, depth=1).grown(data, stats, labels)
    best = 0.0
    for column in range(COLUMNS):
        for subset in range(1, 2**BINS - 1):
            left = (subset >> data.codes[:, column]) & 1 == 1
            if left.any() and not left.all():
                parts = [stats[side, 0].sum() ** 2 / side.sum() for side in (left, ~left)]
                best = max(best, sum(parts) - stats[:, 0].sum() ** 2 / ROWS)
    assert tree.gain[0] == pytest.approx(best, abs=1e-9)


@pytest.mark.parametrize("categorical", [False, True])
@pytest.mark.parametrize("leaves", [None, 4])
def test_every_row_ends_in_the_leaf_that_counted_it(categorical: bool, leaves: int | None) -> None:
    data, stats, labels = table(3, categorical=categorical)
    tree, leaf_of = Growth(GINI, leaves=leaves, least=2).grown(data, stats[:, 1:], labels, channels=3)
    np.testing.assert_array_equal(tree.leaves(data.codes), leaf_of)
    for leaf in np.unique(leaf_of):
        np.testing.assert_array_equal(tree.sums[leaf], np.bincount(labels[leaf_of == leaf], minlength=3))
        assert tree.sums[leaf].sum() >= 2
    assert leaves is None or len(np.unique(leaf_of)) <= leaves
    inner = tree.left >= 0
    np.testing.assert_allclose(tree.sums[tree.left[inner]] + tree.sums[tree.right[inner]], tree.sums[inner])


def test_a_pure_node_and_a_constant_column_are_not_split() -> None:
    data, stats, labels = table(4)
    tree, _ = Growth(GINI).grown(data, stats[:, 1:], np.zeros(ROWS, np.int64), channels=3)
    assert len(tree.left) == 1
    constant = Binned(data.bins, np.zeros_like(data.codes), np.zeros_like(data.turned))
    tree, _ = Growth(GINI).grown(constant, stats[:, 1:], labels, channels=3)
    assert len(tree.left) == 1


def test_rows_and_curvatures_share_one_sum() -> None:
    curvatures = np.ceil(np.random.default_rng(5).random(1000) / 4 * 2**12) / 2**12
    sums = np.array([0.0, (PACK + curvatures).sum()])
    assert kernels.weight_of(sums, CURVED) == 1000
    assert kernels.curvature_of(sums, CURVED) == curvatures.sum()


def test_some_columns_are_different_columns() -> None:
    state = np.array([7], np.uint64)
    drawn = [frozenset(kernels.some_columns(6, 3, state).tolist()) for _ in range(200)]
    assert all(len(each) == 3 and each <= set(range(6)) for each in drawn)
    assert len(set(drawn)) == 20


def test_a_cut_lies_in_the_middle_of_the_gap() -> None:
    """Rows at 0 and 1 go left, rows at 8 and 9 right: 4 is the last value on the left, in every node alike."""
    values = np.repeat([0, 1, 8, 9], 5)[:, None]
    data = Binned.of(Bins((np.arange(9.0),), np.zeros(1, bool), np.array([10])), values)
    labels = (values[:, 0] > 4).astype(np.int64)
    tree, leaf_of = Growth(GINI).grown(data, np.ones((20, 1)), labels)
    assert tree.last[0] == 4
    np.testing.assert_array_equal(tree.leaves(data.codes), leaf_of)


def test_equally_good_columns_are_drawn_alike_unless_their_order_counts() -> None:
    column = np.arange(10) // 5
    bins = Bins((np.zeros(1),) * 3, np.zeros(3, bool), np.full(3, 2))
    data = Binned.of(bins, np.column_stack([column] * 3))
    seeds = np.random.default_rng(8).integers(2**62, size=900).tolist()

    def roots(growth: Growth) -> list[int]:
        return [int(growth.grown(data, np.ones((10, 1)), column, seed=seed)[0].column[0]) for seed in seeds]

    assert set(roots(Growth(GINI))) == {0}
    assert_law(np.bincount(roots(Growth(GINI, in_order=False)), minlength=3), [1 / 3] * 3)


# ---------------------------------------------------------------- sums of residuals


@given(seed=st.integers(0, 10_000), grain=st.sampled_from([1, 16, 2**20]))
@settings(max_examples=20)
def test_residual_sums_are_those_of_numpy(seed: int, grain: int) -> None:
    rng = np.random.default_rng(seed)
    cells = (rng.integers(0, BINS, (ROWS, COLUMNS)) + BINS * np.arange(COLUMNS)).astype(np.int32)
    weights, target, dither = (
        rng.normal(size=(BINS * COLUMNS, 1)),
        rng.integers(0, 2, ROWS).astype(np.float64),
        rng.random(ROWS),
    )
    out = np.zeros(weights.shape, np.int64)
    _additive_kernels.residual_sums(cells, weights, target, dither, float(grain), True, out)
    share = 1 / (1 + np.exp(-weights[cells, 0].sum(axis=1)))
    steps = np.clip(np.floor(grain * (target - share) + dither), -grain, grain)
    expected = np.bincount(cells.ravel(), np.repeat(steps, COLUMNS), len(weights))
    assert np.abs(out[:, 0] - expected).max() <= ROWS * 1e-6  # exp may round differently at the edge of a step


@given(seed=st.integers(0, 10_000), scale=st.sampled_from([0.1, 3.0, 1000.0]))
@settings(max_examples=20)
def test_no_row_moves_the_classes_beyond_its_bound(seed: int, scale: float) -> None:
    """Whatever the weights, the dither and the label are."""
    rng = np.random.default_rng(seed)
    grain, classes = 4, 5
    cells = np.arange(COLUMNS, dtype=np.int32)[None]
    weights = scale * rng.normal(size=(COLUMNS, classes))
    out = np.zeros((COLUMNS, classes), np.int64)
    label, dither = rng.integers(0, classes, 1), rng.random(1)
    _additive_kernels.class_residual_sums(cells, weights, label, dither, float(grain), out)
    assert np.abs(out).max() <= grain
    assert (out**2).sum() <= 2 * grain**2 * COLUMNS
    share = np.exp(weights.sum(axis=0) - weights.sum(axis=0).max())
    residual = (np.arange(classes) == label) - share / share.sum()
    assert np.abs(out - grain * residual).max() <= 2.0
