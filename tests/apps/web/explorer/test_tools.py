"""The figures of the explorer against what bruit computes, and the code they hand out."""

import contextlib
import io
import math
from typing import Any

import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.apps.web.explorer.accuracy import STATISTIC
from bruit.apps.web.explorer.accuracy import TOOL as ACCURACY
from bruit.apps.web.explorer.belief import TOOL as BELIEF
from bruit.apps.web.explorer.budget import AGAINST, SIZE
from bruit.apps.web.explorer.budget import TOOL as BUDGET
from bruit.apps.web.explorer.figure import Tool
from bruit.apps.web.explorer.parameters import STEPS, link, read_parameters
from bruit.errors import InvalidArgument


def view(tool: Any, **given: Any) -> Any:
    return read_parameters(tool.parameters, given)


def run(program: Any) -> Any:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        known: dict[str, Any] = {}
        exec(compile(program, "handed out", "exec"), known)
    return known, said.getvalue()


def test_the_reference_run_costs_what_the_documents_say() -> None:
    facts = dict(BUDGET.figure(view(BUDGET, by="rdp-simple", against="order")).facts)
    assert (facts["steps"], facts["sampling rate"], facts["best Rényi order"]) == ("14070", "0.107 %", "13")
    assert f"{float(facts['ε']):.2f}" == "1.17"


@pytest.mark.parametrize("against", [name for name, _ in AGAINST.options])
def test_the_code_of_every_budget_figure_gives_its_data(against: str) -> None:
    values = view(BUDGET, against=against, by="rdp")
    figure = BUDGET.figure(values)
    found = run(BUDGET.code(values))[0]["frame"]
    if against == "order":
        expected = [*found["simple"], *found["improved"]]
    else:
        expected = (
            found.sort("batch_size", maintain_order=True)["epsilon"] if against == "noise-batch" else found["epsilon"]
        )
    assert sorted(figure.frame()["y"]) == sorted(expected)
    if against not in ("order", "noise-batch", "noise", "delta"):
        assert figure.point[1] in figure.curves[0].y


def test_epsilon_falls_with_noise_and_size_and_grows_with_epochs() -> None:
    for against, falls in (("noise", True), ("size", True), ("epochs", False)):
        curve = BUDGET.figure(view(BUDGET, against=against, by="rdp", batch_size="1")).curves[0].y
        assert list(curve) == sorted(curve, reverse=falls)


def test_a_weak_delta_is_said() -> None:
    assert "weak" in BUDGET.figure(view(BUDGET, size="60000", delta="1e-5", by="rdp")).warning
    assert not BUDGET.figure(view(BUDGET, size="60000", delta="1e-7", by="rdp")).warning


def test_half_a_belief_becomes_the_table_of_the_documents() -> None:
    for epsilon, after in (("0.01", "50.25"), ("0.1", "52.50"), ("1", "73.11"), ("3", "95.26")):
        facts = dict(BELIEF.figure(view(BELIEF, epsilon=epsilon)).facts)
        assert facts["after, at most"] == f"{after} %"
    facts = dict(BELIEF.figure(view(BELIEF, epsilon="0.01")).facts)
    assert facts["a premium of 2000 becomes at most"] == "2020.10"


def test_the_code_of_beliefs_gives_the_curves() -> None:
    values = view(BELIEF, epsilon="0.7")
    found = run(BELIEF.code(values))[0]["frame"].filter(polars.col("epsilon") == 0.7)
    curves = BELIEF.figure(values).curves
    assert list(curves[0].y) == found["high"].to_list()
    assert list(curves[1].y) == found["low"].to_list()


@pytest.mark.parametrize("statistic", [name for name, _ in STATISTIC.options])
def test_the_code_of_accuracy_gives_the_noise(statistic: str) -> None:
    values = view(ACCURACY, statistic=statistic)
    lines = [line.split() for line in run(ACCURACY.code(values))[1].splitlines()]
    noise = ACCURACY.figure(values).curves[0]
    assert [(float(x), float(y)) for x, y in lines] == list(zip(noise.x, noise.y, strict=True))


def test_noise_on_each_answer_is_never_better_than_a_curators_noise() -> None:
    for statistic in ("count", "mean", "sum"):
        curator, _, each = ACCURACY.figure(view(ACCURACY, statistic=statistic)).curves
        assert all(one <= other for one, other in zip(curator.y, each.y, strict=True))


@pytest.mark.parametrize("tool", [BUDGET, BELIEF, ACCURACY], ids=lambda tool: tool.name)
def test_a_link_reproduces_its_view(tool: Tool) -> None:
    from urllib.parse import parse_qsl

    values = view(tool)
    assert view(tool, **dict(parse_qsl(link(values)[1:]))) == values
    described = tool.figure(values).to_json()
    assert all(y is None or math.isfinite(y) for curve in described["curves"] for y in curve["y"])


def test_a_fraction_is_a_number_everywhere() -> None:
    half = BELIEF.figure(view(BELIEF, epsilon="1/2", prior="1/2", premium="4001/2"))
    assert half == BELIEF.figure(view(BELIEF, epsilon="1/2", prior="0.5", premium="2000.5"))


@given(st.integers(0, STEPS))
def test_a_slider_stands_where_its_number_is(place: int) -> None:
    value = SIZE.low * (SIZE.high / SIZE.low) ** (place / STEPS)
    assert abs(SIZE.place(repr(value)) - place) <= 1


@pytest.mark.parametrize(
    ("tool", "typed"),
    [
        (BUDGET, {"size": "a lot"}),
        (BUDGET, {"size": "1.5"}),
        (BUDGET, {"size": "1e300"}),
        (BUDGET, {"noise": "1e-999999999"}),
        (BUDGET, {"noise": "1e٩٩٩٩٩٩٩٩٩"}),
        (BUDGET, {"noise": "1." + "1" * 100}),
        (BUDGET, {"noise": "0"}),
        (BUDGET, {"by": "magic"}),
        (BUDGET, {"delta": "-1"}),
        (BUDGET, {"size": "100", "batch_size": "200"}),
        (BUDGET, {"size": "100000", "delta": "1e-4"}),
        (BELIEF, {"prior": "1.1"}),
        (ACCURACY, {"people": "nan"}),
    ],
)
def test_what_cannot_be_drawn_is_a_sentence(tool: Tool, typed: dict[str, str]) -> None:
    with pytest.raises(InvalidArgument):
        tool.figure(view(tool, **typed))
