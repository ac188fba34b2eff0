"""The JSON of a law: what is written is read back, what was tampered with is refused."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.channels import ONE, Channel, binary, channel_from_json, erasure, gaussian, matrix, symmetric
from bruit.errors import BadFile, InvalidArgument


@pytest.mark.parametrize(
    "channel",
    [symmetric(7, epsilon=1), matrix([[0.5, 0.5], [0.1, 0.9]]), erasure(3, loss=0.1), binary(error=0)],
    ids=["symmetric", "matrix", "erasure", "perfect"],
)
def test_a_law_survives_its_json(channel: Channel) -> None:
    again = channel_from_json(json.dumps(channel.to_json()))
    assert isinstance(again, Channel)
    assert (again.weights == channel.weights).all()  # type: ignore[attr-defined]
    assert again.epsilon == channel.epsilon


def test_a_gaussian_channel_survives_its_json() -> None:
    assert channel_from_json(gaussian(noise=0.1).to_json()) == gaussian(noise=0.1)


@given(st.integers(2, 1000), st.integers(1, 1000))
def test_moved_weight_is_noticed(size: int, shift: int) -> None:
    block = symmetric(size, epsilon=1).to_json()
    block["keep"] += shift * (size - 1)
    block["other"] -= shift
    with pytest.raises(BadFile, match="epsilon"):
        channel_from_json(block)


@pytest.mark.parametrize(
    "changes",
    [
        {"kind": "other"},
        {"out_of": 100},
        {"keep": 1.5},
        {"keep": "many"},
        {"keep": -1},
        {"keep": ONE},
        {"size": 8},
        {"epsilon": "1/2"},
        {"epsilon": None},
    ],
)
def test_a_tampered_block_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(BadFile):
        channel_from_json({**symmetric(7, epsilon=1).to_json(), **changes})


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"kind": "matrix"}', '{"kind": "gaussian", "noise": "-1"}'])
def test_a_cut_text_is_refused(text: str) -> None:
    with pytest.raises(BadFile):
        channel_from_json(text)


def test_a_matrix_that_is_not_stochastic_is_refused() -> None:
    block = matrix([[0.5, 0.5], [0.1, 0.9]]).to_json()
    block["weights"][0][0] += 1
    with pytest.raises(BadFile, match="sums"):
        channel_from_json(block)


@pytest.mark.parametrize(
    "arguments", [{}, {"zero_to_one": 0.1}, {"error": 0.1, "zero_to_one": 0.1, "one_to_zero": 0.1}]
)
def test_a_binary_channel_needs_one_full_description(arguments: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument):
        binary(**arguments)
