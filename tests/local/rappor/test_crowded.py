"""Designs in which texts meet in few bits: the level is held by Bonferroni's rule, or the decoding is refused."""

import numpy as np
import pytest

from bruit.errors import InvalidArgument
from bruit.local import Rappor, decode
from bruit.local.rappor import decoding
from bruit.local.rappor.selection import level_held
from bruit.local.rappor.simulation import drawn_tally

SHARES = np.exp(-np.arange(100) / 20) / np.exp(-np.arange(100) / 20).sum()
LEVEL = 0.05


def crowded(bits: int, cohorts: int) -> Rappor:
    return Rappor(bits=bits, hashes=2, cohorts=cohorts, f="0.5", p="0.5", q="0.75")


def false_share(protocol: Rappor, draws: int, listed: int) -> float:
    """The mean share of false ones among those found; each draw has texts, and so bits, of its own."""
    shares = []
    for draw in range(draws):
        texts = [f"{draw} {number}" for number in range(100)]
        asked = [*texts[: listed // 2], *(f"{draw} nobody {number}" for number in range(listed - listed // 2))]
        tally = drawn_tally(protocol, texts, SHARES, 1_000_000, rng=np.random.default_rng(draw))
        labels = [set(label.split(" or ")) for label in decode(tally, asked, level=LEVEL).labels]
        shares.append(sum(not label & set(texts) for label in labels) / max(len(labels), 1))
    return float(np.mean(shares))


@pytest.mark.parametrize(("bits", "cohorts"), [(16, 4), (64, 1)])
def test_a_crowded_design_holds_its_level(bits: int, cohorts: int) -> None:
    assert false_share(crowded(bits, cohorts), 40, 60) <= LEVEL


def test_the_planted_rule_that_trusts_a_crowded_design_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(decoding, "widened", lambda _protocol, _candidates, select: select)
    assert false_share(crowded(64, 1), 25, 60) > LEVEL


def test_a_design_says_what_it_can_hold_before_anyone_is_asked() -> None:
    assert level_held(crowded(128, 16), 1000) == "held"
    assert level_held(crowded(16, 4), 64) == "by bonferroni"
    assert level_held(crowded(16, 4), 65) == "not held"
    protocol = crowded(16, 4)
    tally = drawn_tally(protocol, ["a", "b"], [0.5, 0.5], 10_000, rng=np.random.default_rng(1))
    release = decode(tally, ["a", "b", "c"])
    assert (release.details["select"], release.details["level_held"]) == ("bonferroni", "by bonferroni")
    with pytest.raises(InvalidArgument, match="16 bits in 4 cohorts cannot tell 90 candidates apart"):
        decode(tally, [f"text {number}" for number in range(90)])


@pytest.mark.stress
@pytest.mark.parametrize(
    ("bits", "cohorts"), [(16, 4), (64, 1), (32, 1), (128, 1), (64, 2), (16, 8), (32, 8), (128, 8)]
)
def test_every_design_holds_its_level(bits: int, cohorts: int) -> None:
    assert false_share(crowded(bits, cohorts), 200, min(150, bits * cohorts)) <= LEVEL
