"""Envelopes: what goes in comes out, bursts and losses are repaired, and what cannot be is never a wrong payload."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit.codes import envelope, open_envelope
from bruit.errors import DecodingFailure, InvalidArgument


@given(st.binary(max_size=2000), st.sampled_from([1, 2, 16, 32, 100, 254]))
def test_what_goes_in_comes_out(payload: bytes, checks: int) -> None:
    assert open_envelope(envelope(payload, checks=checks), checks=checks) == payload


@given(st.binary(max_size=1500), st.data())
def test_a_burst_of_half_the_checks_of_every_word_is_repaired(payload: bytes, data: Any) -> None:
    sealed = bytearray(envelope(payload))
    words = -(-len(sealed) // 255)
    start = data.draw(st.integers(0, len(sealed) - 16 * words))
    for place in range(start, start + 16 * words):
        sealed[place] ^= data.draw(st.integers(1, 255)) if place == start else 0x5A
    assert open_envelope(bytes(sealed)) == payload


@given(st.binary(max_size=1500), st.data())
def test_twice_as_much_may_be_lost_when_one_knows_where(payload: bytes, data: Any) -> None:
    sealed = bytearray(envelope(payload))
    words = -(-len(sealed) // 255)
    start = data.draw(st.integers(0, len(sealed) - 32 * words))
    places = range(start, start + 32 * words)
    for place in places:
        sealed[place] = 0
    assert open_envelope(bytes(sealed), erasures=places) == payload
    more = [*places, start - 1 if start else 32 * words]
    with pytest.raises(DecodingFailure, match="lost more than 32"):
        open_envelope(bytes(sealed), erasures=more)


def test_no_damage_gives_a_wrong_payload() -> None:
    rng = np.random.default_rng(1)
    payload = bytes(range(100))
    sealed = np.frombuffer(envelope(payload, checks=4), np.uint8)
    outcomes = {"same": 0, "failure": 0}
    for errors in range(1, 30):
        for _ in range(30):
            received = sealed.copy()
            places = rng.choice(sealed.size, errors, replace=False)
            received[places] ^= rng.integers(1, 256, errors, dtype=np.uint8)
            try:
                opened = open_envelope(received.tobytes(), checks=4, erasures=places[:3])
            except DecodingFailure:
                outcomes["failure"] += 1
            else:
                assert opened == payload
                outcomes["same"] += 1
    assert min(outcomes.values()) > 50


def test_erasures_that_leave_no_check_are_caught_by_the_checksum() -> None:
    payload = bytes(200)
    sealed = bytearray(envelope(payload))
    sealed[100] ^= 1
    with pytest.raises(DecodingFailure, match="checksum"):
        open_envelope(bytes(sealed), erasures=range(32))


@pytest.mark.parametrize("sealed", [b"", b"short", bytes(511), envelope(b"x" * 300)[:-1], envelope(b"x" * 300) + b"0"])
def test_what_was_cut_is_no_envelope(sealed: bytes) -> None:
    with pytest.raises(DecodingFailure):
        open_envelope(sealed)


def test_bad_arguments() -> None:
    for checks in (0, 255):
        with pytest.raises(InvalidArgument):
            envelope(b"", checks=checks)
        with pytest.raises(InvalidArgument):
            open_envelope(bytes(60), checks=checks)
    for erasures in ([-1], [10_000], [0.5], ["a"]):
        with pytest.raises(InvalidArgument):
            open_envelope(envelope(b"abc"), erasures=erasures)
