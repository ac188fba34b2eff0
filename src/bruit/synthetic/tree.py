"""The tree mode of synthesis: a spanning tree of column pairs, and rows drawn from it column by column."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from bruit.synthetic.curator import Curator
from bruit.synthetic.fitting import Fit, expected_error, nearest_shares, noisy_size, spread_out, without_impossible
from bruit.synthetic.gibbs import Impossible, Measured
from bruit.synthetic.marginals import Clique, pairs_of


def fit_tree(curator: Curator, *, size: int | None, impossible: Sequence[Impossible], state: int) -> Fit:
    """Measures one-way counts and a spanning tree of pairs, each chosen privately, and draws rows along the tree.

    As in MST [McKenna, Miklau & Sheldon 2021], but with exact choices and counts shrunk towards independence.
    """
    rng, sizes = np.random.default_rng(state), curator.sizes
    singles = [curator.single(i) for i in range(len(sizes))]
    people = float(size or noisy_size(singles))
    shares = [nearest_shares(one.noisy, people) for one in singles]
    edges = _choose_tree(curator, shares, people)
    number = max(1, round(people))
    table = np.empty((number, len(sizes)), np.uint8)
    joint = {edge.clique: _denoise(edge, shares, people, impossible) for edge in edges}
    for column, parent in _order(joint, len(sizes)):
        if parent is None:
            table[:, column] = spread_out(shares[column], number, rng)
        else:
            table[:, column] = _draw_given(table[:, parent], _conditional(joint, parent, column), rng)
    return Fit(without_impossible(table, impossible, sizes, rng), people, (*singles, *edges))


def _choose_tree(curator: Curator, shares: list[NDArray[np.float64]], people: float) -> list[Measured]:
    """Pairs that join the columns into a tree, where they differ most from independence."""
    group, edges = list(range(len(shares))), []
    pairs = pairs_of(curator.sizes)
    guesses = {(i, j): np.rint(people * np.outer(shares[i], shares[j])).astype(np.int64).ravel() for i, j in pairs}
    penalties = {pair: expected_error(guess, sqrt(curator.plan.pairs)) for pair, guess in guesses.items()}
    while curator.left and (open_ := [(i, j) for i, j in pairs if group[i] != group[j]]):
        if curator.plan.choice is None:
            edges += curator.measure(open_[:1])
        else:
            edges += curator.choose(open_, [guesses[pair] for pair in open_], [penalties[pair] for pair in open_])
        joined, gone = group[edges[-1].clique[0]], group[edges[-1].clique[1]]
        group = [joined if each == gone else each for each in group]
    return edges


def _denoise(
    edge: Measured, shares: list[NDArray[np.float64]], people: float, impossible: Sequence[Impossible]
) -> NDArray[np.float64]:
    """The joint shares of a pair: its residual from independence, shrunk as c / (c + deviation), then raked.

    Raking to the one-way shares makes the pairs of a tree agree.                  [Deming & Stephan 1940]
    """
    i, j = edge.clique
    guess = people * np.outer(shares[i], shares[j])
    shape = guess.shape
    residual = edge.noisy.reshape(shape) - guess
    joint = np.maximum(guess + residual * guess / (guess + sqrt(edge.variance)), 1e-9 * people)
    for known in impossible:
        if known.clique == edge.clique:
            joint[known.cells.reshape(shape)] = 0
    for _ in range(5):
        joint *= (shares[i] / np.maximum(joint.sum(1), 1e-12))[:, None]
        joint *= shares[j] / np.maximum(joint.sum(0), 1e-12)
    return joint


def _order(joint: dict[Clique, NDArray[np.float64]], columns: int) -> list[tuple[int, int | None]]:
    """Each column after its parent in the tree; a root has none."""
    found: list[tuple[int, int | None]] = []
    placed: set[int] = set()
    for root in range(columns):
        if root not in placed:
            found.append((root, None))
            placed.add(root)
        for column, _ in found:
            for i, j in joint:
                child = j if i == column else i if j == column else None
                if child is not None and child not in placed:
                    found.append((child, column))
                    placed.add(child)
    return found


def _conditional(joint: dict[Clique, NDArray[np.float64]], parent: int, child: int) -> NDArray[np.float64]:
    """The shares of a child's values for each value of its parent, added up."""
    table = joint[parent, child] if (parent, child) in joint else joint[child, parent].T
    sums = np.cumsum(table, 1)
    return sums / np.maximum(sums[:, -1:], 1e-300)


def _draw_given(
    parent: NDArray[np.uint8], conditional: NDArray[np.float64], rng: np.random.Generator
) -> NDArray[np.uint8]:
    """A value for each row given its parent's: rows of one parent share one systematic draw, then a shuffle."""
    out = np.empty(len(parent), np.uint8)
    order = np.argsort(parent, kind="stable")
    bounds = np.searchsorted(parent[order], np.arange(len(conditional) + 1))
    for value, sums in enumerate(conditional):
        rows = order[bounds[value] : bounds[value + 1]]
        marks = (np.arange(len(rows)) + rng.random()) / max(len(rows), 1)
        drawn = np.minimum(np.searchsorted(sums, marks, side="right"), len(sums) - 1)
        out[rng.permutation(rows)] = drawn
    return out
