"""Reports on the wire: what Python sends is read, counted and tallied as the protocol itself would."""

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bruit import local
from bruit.apps.web import Wire
from bruit.errors import InvalidArgument
from bruit.local import LocalProtocol

LETTERS = list("abcdefghij")
PROTOCOLS = [
    (local.Warner(epsilon=1), ["no", "yes"]),
    (local.KRR(LETTERS, epsilon=1), LETTERS),
    (local.OUE(LETTERS, epsilon=1), LETTERS),
    (local.OUE([f"choice {place}" for place in range(70)], epsilon=1), ["choice 0", "choice 64", "choice 69"]),
    (local.LongitudinalKRR(LETTERS, epsilon=1, forever=2), LETTERS),
    (local.LongitudinalOUE(LETTERS, epsilon=1, forever=2), LETTERS),
    (local.OneBitMean(0, 10, grid=1, epsilon=1), [0, 3, 10]),
    (local.Rappor(bits=128, hashes=1, cohorts=8, f="0.5"), ["x", "y"]),
    (local.Rappor(bits=70, hashes=2, cohorts=3, f="0.5", p="0.25", q="0.75"), ["x", "y"]),
]
by_name = pytest.mark.parametrize(("protocol", "answers"), PROTOCOLS, ids=lambda one: type(one).__name__)


@by_name
def test_counters_of_what_was_sent_are_the_protocols_own_tally(protocol: LocalProtocol, answers: list[Any]) -> None:
    reports = protocol.randomise(answers * 20, rng=np.random.default_rng(7))
    reports = reports.of(reports.columns(), seeded=False)
    wire = Wire(protocol)
    kept = [wire.read(one) for one in wire.to_wire(reports)]
    half = len(kept) // 2
    counters = wire.count(wire.count(b"", kept[:half]), kept[half:])
    assert wire.tally(len(kept), counters).to_json() == protocol.tally(reports).to_json()
    again = wire.from_wire(kept)
    assert protocol.tally(again).to_json() == protocol.tally(reports).to_json()


@by_name
def test_a_tally_of_nothing_is_the_empty_one(protocol: LocalProtocol, answers: list[Any]) -> None:
    assert Wire(protocol).tally(0, b"").to_json() == protocol.empty().to_json()


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=40) | st.text("0123456789abcdef"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=2),
    max_leaves=4,
)


@given(anything, st.sampled_from([protocol for protocol, _ in PROTOCOLS]))
def test_whatever_arrives_is_read_as_a_report_or_refused_in_words(
    report: float | None, protocol: LocalProtocol
) -> None:
    wire, said = Wire(protocol), None
    try:
        kept = wire.read(report)
    except InvalidArgument as error:
        said = str(error)
    assert "a report of this poll is" in said if said else wire.count(b"", [kept])


@pytest.mark.parametrize("report", [2, -1, 1.0, True, "1", "01", [0, "00"], None, {}])
def test_what_no_device_sends_for_yes_or_no_is_refused(report: Any) -> None:
    with pytest.raises(InvalidArgument, match="a whole number below 2"):
        Wire(local.Warner(epsilon=1)).read(report)


@pytest.mark.parametrize("report", ["", "00", "000", "0004", "zz00", "AB00", 3, [0, "0000"]])
def test_bits_beyond_the_categories_are_refused(report: Any) -> None:
    wire = Wire(local.OUE(LETTERS, epsilon=1))
    assert wire.read("ff03") == "ff03"
    with pytest.raises(InvalidArgument, match="10 bits as 4 hexadecimal digits"):
        wire.read(report)


def test_a_client_needs_no_web_extra() -> None:
    code = (
        "import sys; sys.modules.update(dict.fromkeys(['fastapi', 'starlette', 'jinja2', 'uvicorn', 'segno']));"
        "from bruit.apps.web import PollClient, Wire"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
