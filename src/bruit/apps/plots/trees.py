"""A tree, drawn: what each node asks, its impurity, its rows and class shares, and the colour of its prediction."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bruit.apps.plots.style import COLOURS, save_figure

Ints = NDArray[np.int64]


def tree(
    path: Path,
    model: Any,
    *,
    names: Sequence[str],
    title: str,
    classes: Sequence[str] = (),
    seen: tuple[Any, Any] | None = None,
) -> Path:
    """Saves a drawing of a fitted `bruit.learning.DecisionTree`; a paler node is less certain.

    `seen`, what a regression tree was fitted on, is needed for its squared errors: the tree keeps only its means.
    """
    grown, places = model.tree_, _places(model.tree_.left, model.tree_.right)
    errors = None if seen is None else _squared_errors(model, *seen)
    depth, width = grown.depth + 1, int((grown.left < 0).sum())
    with save_figure(path, size=(max(6.0, 1.08 * width), 0.6 + 1.2 * depth)) as axes:
        for parent in np.flatnonzero(grown.left >= 0):
            for child, word in ((grown.left[parent], "yes"), (grown.right[parent], "no")):
                ends = np.array([places[parent], places[child]]).T
                axes.plot(*ends, color="#999999", linewidth=1, zorder=1)
                beneath = {"boxstyle": "square,pad=0.1", "facecolor": "white", "edgecolor": "none"}
                axes.annotate(word, ends.mean(axis=1), fontsize=8, color="#444444", ha="center", bbox=beneath)
        for node, place in enumerate(places):
            axes.annotate(
                _words(model, node, names, classes, errors),
                place,
                ha="center",
                va="center",
                fontsize=8,
                bbox={"boxstyle": "round,pad=0.45", "facecolor": _colour(model, node), "edgecolor": "#666666"},
            )
        axes.set(title=title, xlim=(-0.6, width - 0.4), ylim=(-depth + 0.6, 0.4))
        axes.axis("off")
    return path


def _places(left: Ints, right: Ints) -> NDArray[np.float64]:
    """Leaves side by side in their order, every other node in the middle above its children."""
    places = np.zeros((len(left), 2))
    nodes, leaves = [(0, 0)], 0
    order: list[int] = []
    while nodes:
        node, level = nodes.pop()
        places[node, 1] = -level
        order.append(node)
        if left[node] >= 0:
            nodes += [(int(right[node]), level + 1), (int(left[node]), level + 1)]
        else:
            places[node, 0], leaves = leaves, leaves + 1
    for node in reversed(order):
        if left[node] >= 0:
            places[node, 0] = (places[left[node], 0] + places[right[node], 0]) / 2
    return places


def _words(
    model: Any, node: int, names: Sequence[str], classes: Sequence[str], errors: NDArray[np.float64] | None
) -> str:
    """The question of a node, its impurity, its weight, its class shares and what it predicts."""
    grown, values = model.tree_, model.values_[node]
    if len(values) == 1:
        impurity = "" if errors is None else f"squared error {errors[node]:.0f}\n"
        told = f"{impurity}n = {grown.sums[node, 1]:.0f}\nmean {values[0]:.4g}"
    else:
        found = str((classes or model.classes_)[int(np.argmax(values))])
        told = f"{_impurity(values, model.criterion)}\nn = {grown.sums[node].sum():.0f}\n{_shares(values)}\n{found}"
    return told if grown.left[node] < 0 else f"{_question(model, node, names)}\n{told}"


def _squared_errors(model: Any, X: Any, y: NDArray[np.float64]) -> NDArray[np.float64]:
    """The mean squared error of the mean of each node, from the rows that the tree was fitted on."""
    grown = model.tree_
    sums = np.zeros((len(grown.left), 3))
    np.add.at(sums, grown.leaves(model._codes(X)), np.stack([np.ones(len(y)), y, y**2], axis=1))
    for node in reversed(range(len(sums))):  # children come after their parent
        if grown.left[node] >= 0:
            sums[node] = sums[grown.left[node]] + sums[grown.right[node]]
    return np.asarray(sums[:, 2] / sums[:, 0] - (sums[:, 1] / sums[:, 0]) ** 2)


def _impurity(values: NDArray[np.float64], criterion: str) -> str:
    """How mixed the classes of a node are, by the criterion of the tree."""
    share = values[values > 0]
    if criterion == "entropy":
        return f"entropy {abs(float((share * np.log2(share)).sum())):.2f}"
    return f"Gini {1 - float((share**2).sum()):.2f}"


def _shares(values: NDArray[np.float64]) -> str:
    return " / ".join(f"{share:.0%}" for share in values)


def _question(model: Any, node: int, names: Sequence[str]) -> str:
    grown = model.tree_
    column, name = int(grown.column[node]), names[int(grown.column[node])].replace("_", " ")
    domain = None if model._domains is None else model._domains[column]
    if grown.mask[node] >= 0 and domain is not None:
        chosen = [domain.labels[i] for i in np.flatnonzero(grown.masks[grown.mask[node]][: domain.size])]
        return f"{name}\nin {', '.join(chosen[:3])}{'…' if len(chosen) > 3 else ''}"
    edge = model._bins.edges[column][int(grown.last[node])]
    return f"{name}\n≤ {edge if domain is None else float(domain.decode(edge)):.4g}"


def _colour(model: Any, node: int) -> tuple[float, float, float]:
    """The colour of the likeliest class, mixed with white where others are near; of numbers, the larger the darker."""
    from matplotlib.colors import to_rgb

    values = model.values_
    if values.shape[1] == 1:
        spread = float(np.ptp(values)) or 1.0
        hue, sure = COLOURS[0], float((values[node, 0] - values.min()) / spread)
    else:
        best, even = int(np.argmax(values[node])), 1 / values.shape[1]
        hue, sure = COLOURS[best % len(COLOURS)], float((values[node, best] - even) / (1 - even))
    red, green, blue = (1 - 0.75 * sure * (1 - part) for part in to_rgb(hue))
    return red, green, blue
