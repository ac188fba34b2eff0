"""Exports linear models as ONNX graphs with one input per column, clamped and encoded inside the graph.

The graph repeats what `predict` does, in double precision: numbers are clamped, rounded to the grid of their domain and
of the design; categories become indicators, unknown ones OTHER. A missing number takes what its domain states.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bruit.errors import InvalidArgument, MissingExtra
from bruit.learning.estimator.records import neutral
from bruit.learning.linear_models._design import STEPS
from bruit.learning.linear_models.linear import LinearRegression
from bruit.learning.linear_models.logistic import LogisticRegression
from bruit.learning.publishing.card import make_card
from bruit.learning.trees.binning import holds_amounts
from bruit.tables import Among, Domain, Within

if TYPE_CHECKING:
    import onnx

OPSET, ML_OPSET, IR = 17, 3, 8
"""Versions that every runtime of the last years reads."""


class _Graph:
    """Nodes and constants of a graph while it grows; each node has a name of its own."""

    def __init__(self, helper: Any, kinds: Any) -> None:
        self.helper, self.kinds = helper, kinds
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def add(self, kind: str, *inputs: str, out: str | None = None, **attributes: object) -> str:
        """Adds a node and returns the name of its output."""
        name = out or f"{kind}_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(inputs), [name], **attributes))
        return name

    def hold(self, values: object) -> str:
        """Adds a constant of double precision and returns its name."""
        array, name = np.asarray(values, np.float64), f"constant_{len(self.constants)}"
        held = self.helper.make_tensor(name, self.kinds.DOUBLE, array.shape, array.reshape(-1).tolist())
        self.constants.append(held)
        return name


def to_onnx(model: LogisticRegression | LinearRegression, path: str | Path) -> Path:
    """Writes a fitted linear model as an ONNX file, with its card in the metadata, and returns the path.

    Inputs are one tensor of shape (rows, 1) a column, double precision or texts, named as the columns; the output is
    `probabilities`, or `prediction` of a regression.
    """
    domains: tuple[Domain, ...] | None = getattr(model, "_domains", None)
    if not isinstance(model, LogisticRegression | LinearRegression) or domains is None:
        raise InvalidArgument(
            f"learning.to_onnx carries a fitted LogisticRegression or LinearRegression with a domain, and this is a "
            f"{type(model).__name__}{'' if domains is not None else ' that is not fitted with one'}: keep it with "
            "model.save(path), which bruit.learning.load reads without pickle"
        )
    try:
        from onnx import TensorProto, checker, helper, save_model
    except ImportError as error:
        raise MissingExtra("learning.to_onnx", "onnx") from error
    graph = _Graph(helper, TensorProto)
    names = _names(model)
    curves = model._design is not None and model._design.curves
    columns = [_columns(graph, name, domain, curves=curves) for name, domain in zip(names, domains, strict=True)]
    found = _answers(graph, model, graph.add("Concat", *(each for column in columns for each in column), axis=1))
    inputs = [
        helper.make_tensor_value_info(
            name, TensorProto.STRING if isinstance(domain, Among) else TensorProto.DOUBLE, [None, 1]
        )
        for name, domain in zip(names, domains, strict=True)
    ]
    output = helper.make_tensor_value_info(found, TensorProto.DOUBLE, [None, None])
    built: onnx.ModelProto = helper.make_model(
        helper.make_graph(graph.nodes, type(model).__name__, inputs, [output], graph.constants),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid("ai.onnx.ml", ML_OPSET)],
        ir_version=IR,
    )
    helper.set_model_props(built, {"card": json.dumps(make_card(model).to_json(), ensure_ascii=False)})
    checker.check_model(built)
    save_model(built, str(path))
    return Path(path)


def _names(model: Any) -> list[str]:
    named = getattr(model, "feature_names_in_", None)
    return [f"x{place}" for place in range(len(model._domains))] if named is None else [str(each) for each in named]


def _columns(graph: _Graph, name: str, domain: Domain, *, curves: bool) -> list[str]:
    """One column in its own units and its curve, or the indicators of its categories but for the first."""
    if not isinstance(domain, Within):
        return [_indicators(graph, name, domain)]
    steps = _grid_steps(graph, name, domain)
    fine = _design_steps(graph, steps, domain)
    width, centre = float(domain.high - domain.low) / 2, float(domain.low + domain.high) / 2
    line = graph.add("Add", graph.add("Mul", fine, graph.hold([width / STEPS])), graph.hold([centre]))
    return [line, _curve(graph, steps, fine, domain)] if curves else [line]


def _indicators(graph: _Graph, name: str, domain: Among) -> str:
    hot = graph.add("OneHotEncoder", name, cats_strings=list(domain.values), zeros=1, domain="ai.onnx.ml")
    flat = graph.add("Cast", graph.add("Flatten", hot, axis=1), to=graph.kinds.DOUBLE)
    widen = np.eye(len(domain.values), domain.size)
    start = np.zeros(domain.size)
    if domain.drop_others:
        start[0], widen = 1.0, widen - np.eye(1, domain.size)  # a value that its domain drops takes the first category
    else:
        start[-1], widen = 1.0, widen - np.eye(1, domain.size, domain.size - 1)
    every = graph.add("Add", graph.add("MatMul", flat, graph.hold(widen)), graph.hold(start))
    return graph.add("MatMul", every, graph.hold(np.eye(domain.size)[:, 1:]))


def _grid_steps(graph: _Graph, name: str, domain: Within) -> str:
    """A number clamped and rounded to the grid of its domain, as a number of grid steps."""
    missing = float(domain.missing) if domain.missing is not None else float(domain.decode(neutral(domain)))
    present = graph.add("Where", graph.add("IsNaN", name), graph.hold([missing]), name)
    inside = graph.add(
        "Max", graph.add("Min", present, graph.hold([float(domain.high)])), graph.hold([float(domain.low)])
    )
    grid = graph.add("Div", inside, graph.hold([float(domain.grid)]))
    return graph.add("Floor", graph.add("Add", grid, graph.hold([0.5])))


def _design_steps(graph: _Graph, steps: str, domain: Within) -> str:
    """Grid steps as steps of the design, as `scale_to_steps` does."""
    share = graph.add(
        "Div", graph.add("Sub", steps, graph.hold([domain.lowest])), graph.hold([domain.highest - domain.lowest])
    )
    return _rounded(graph, share)


def _curve(graph: _Graph, steps: str, fine: str, domain: Within) -> str:
    """The logarithm of an amount or the square of a number, as `curve_of_steps` does."""
    if holds_amounts(domain):
        grown = graph.add("Log", graph.add("Add", steps, graph.hold([1.0])))
        share = graph.add("Div", grown, graph.hold([np.log1p(domain.highest)]))
    else:
        scaled = graph.add("Div", fine, graph.hold([float(STEPS)]))
        share = graph.add("Mul", scaled, scaled)
    return graph.add("Div", _rounded(graph, share), graph.hold([float(STEPS)]))


def _rounded(graph: _Graph, share: str) -> str:
    """A share in [0, 1] as steps of the design between -STEPS and STEPS."""
    scaled = graph.add("Sub", graph.add("Mul", share, graph.hold([2.0])), graph.hold([1.0]))
    return graph.add("Round", graph.add("Mul", scaled, graph.hold([float(STEPS)])))


def _answers(graph: _Graph, model: Any, columns: str) -> str:
    """The probabilities of the classes, or the prediction within its bounds."""
    weights = np.atleast_2d(model.coef_)
    odds = graph.add(
        "Add", graph.add("MatMul", columns, graph.hold(weights.T)), graph.hold(np.atleast_1d(model.intercept_))
    )
    if isinstance(model, LinearRegression):
        low, high = model._bounds
        return graph.add("Max", graph.add("Min", odds, graph.hold([high])), graph.hold([low]), out="prediction")
    shares = graph.add("Sigmoid", odds)
    if len(weights) == 1:
        return graph.add("Concat", graph.add("Sub", graph.hold([1.0]), shares), shares, axis=1, out="probabilities")
    total = graph.add("ReduceSum", shares, graph.add("Constant", value_ints=[1]), keepdims=1)
    return graph.add("Div", shares, total, out="probabilities")
