"""RAPPOR's collecting side: its law, its memory, its filters."""

import json
import math
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from laws import assert_law

from bruit.channels import ONE
from bruit.errors import BadFile, InvalidArgument, NotPrivate
from bruit.local import BasicRappor, Rappor, RapporClient, protocol_from_json, tally_from_json
from bruit.local.frequencies import bits
from bruit.local.rappor import RapporLaw, bloom
from bruit.local.rappor._bloom_kernels import digest_texts, positions
from bruit.privacy import LOCAL

ILLUSTRATED = RapporLaw(f=0.5, p=0.5, q=0.75, hashes=2)


@pytest.mark.parametrize(("reports", "epsilon"), [(1, 1.074), (2, 2.017), (7, 4.068), (30, 4.394)])
def test_the_loss_of_several_reports_is_the_known_one(reports: int, epsilon: float) -> None:
    assert float(ILLUSTRATED.after(reports)) == pytest.approx(epsilon, abs=6e-4)


@pytest.mark.parametrize(
    ("f", "hashes", "once", "forever"), [(0.5, 2, 1.074, 4.394), (0.75, 2, 0.534, None), (0.5, 4, 2.149, 8.789)]
)
def test_the_losses_of_the_document(f: float, hashes: int, once: float, forever: float | None) -> None:
    law = RapporLaw(f=f, p=0.5, q=0.75, hashes=hashes)
    assert float(law.once) == pytest.approx(once, abs=6e-4)
    if forever is not None:
        assert float(law.forever) == pytest.approx(forever, abs=6e-4)


@given(st.floats(0.05, 0.9), st.floats(0.05, 0.95), st.floats(0.05, 0.95), st.integers(1, 4))
def test_the_loss_of_one_report_is_the_documents_formula(f: float, p: float, q: float, hashes: int) -> None:
    if abs(p - q) < 0.01:
        return
    law = RapporLaw(f=f, p=p, q=q, hashes=hashes)
    one, zero = f * (p + q) / 2 + (1 - f) * q, f * (p + q) / 2 + (1 - f) * p
    exact = hashes * abs(math.log(one * (1 - zero) / (zero * (1 - one))))
    assert float(law.once) == pytest.approx(exact, rel=1e-6)
    assert law.once <= law.after(2) <= law.forever


@given(st.integers(1, 9), st.integers(1, 9), st.integers(0, 10), st.integers(0, 10), st.integers(1, 4))
def test_the_worst_reports_are_all_ones_and_all_zeros(keep: int, lie: int, p: int, q: int, reports: int) -> None:
    """The closed form is the maximum over every sequence of reports of two bits that differ each way."""
    if p == q or keep == lie or lie > keep:
        return
    law = RapporLaw(f=Fraction(2 * lie, keep + lie), p=Fraction(p, 10), q=Fraction(q, 10), hashes=1)
    kept, flipped = (int(weight) for weight in law.permanent.weights[0])
    table = [[int(weight) for weight in row] for row in law.instantaneous.weights]

    def chance(bit: int, seen: tuple[int, ...]) -> int:
        given_memo = [math.prod(table[memo][y] for y in seen) for memo in (0, 1)]
        return kept * given_memo[bit] + flipped * given_memo[1 - bit]

    ratios = [(chance(1, seen), chance(0, seen)) for seen in product((0, 1), repeat=reports)]
    if any(min(pair) == 0 < max(pair) for pair in ratios):
        assert law.after(reports) == math.inf
    else:
        possible = [Fraction(*pair) for pair in ratios if max(pair) > 0]
        worst = math.log(max(possible)) - math.log(min(possible))
        assert float(law.after(reports)) == pytest.approx(worst, abs=1e-9)


def test_one_time_reports_are_the_memoised_bits() -> None:
    law = RapporLaw(f=0.5, p=0, q=1, hashes=2)
    assert law.one_time
    assert [float(law.after(n)) for n in (1, 5)] == pytest.approx([float(law.forever)] * 2)


def test_every_bit_of_a_report_follows_the_composed_channel() -> None:
    """A peer's RAPPOR never flips a true one; here each bit, true or not, is one exactly as often as the law says."""
    protocol, people = Rappor(bits=16, hashes=2, cohorts=4, f=0.5, p=0.3, q=0.8), 65_536
    reports = protocol.randomise(["word"] * people, rng=np.random.default_rng(1), cohorts=np.full(people, 2))
    tally = protocol.tally(reports)
    assert tally.people.tolist() == [0, 0, people, 0]
    places = set(bloom.candidate_places(["word"], cohorts=4, hashes=2, bits=16)[0, 2].tolist())
    if_zero, if_one = protocol.law.report.probabilities()[:, 1]
    for bit in range(16):
        chance = if_one if bit in places else if_zero
        assert_law([tally.counts[2, bit], people - tally.counts[2, bit]], [chance, 1 - chance])
    assert tally.counts[[0, 1, 3]].sum() == 0


def test_the_permanent_response_flips_ones_and_zeros_alike() -> None:
    protocol, people = Rappor(bits=64, hashes=2, cohorts=1, f=0.3), 65_536
    kept = bits.ones(protocol.memoise(np.full((people, 1), 0xFFFF, np.uint64), rng=np.random.default_rng(2)), 64)
    for bit in (0, 15, 16, 63):
        chance = 0.85 if bit < 16 else 0.15
        assert_law([kept[bit], people - kept[bit]], [chance, 1 - chance])


def test_a_memoised_value_keeps_its_bits() -> None:
    client = RapporClient(Rappor(bits=64, hashes=2, cohorts=8, f=0.5), cohort=3)
    first = client.report("home").values.tolist()
    assert all(client.report("home").values.tolist() == first for _ in range(20))


def test_a_client_counts_the_values_it_has_protected(tmp_path: Path) -> None:
    client = RapporClient(Rappor(bits=200, hashes=2, cohorts=8, f=0.5, p=0.5, q=0.75))
    for value in ("a", "b", "a", "c", "b"):
        client.report(value)
    assert client.distinct == 3
    assert client.spent == 3 * client.protocol.law.forever
    client.save(tmp_path / "client.json")
    again = RapporClient.load(tmp_path / "client.json")
    assert (again.protocol, again.cohort, again.distinct, again._memory) == (
        client.protocol,
        client.cohort,
        3,
        client._memory,
    )
    again.report("a")
    assert again.distinct == 3


@pytest.mark.parametrize("change", ["", "{", "cut", "protocol", "memory", "cohort"])
def test_a_damaged_client_state_is_refused(tmp_path: Path, change: str) -> None:
    client = RapporClient(Rappor(bits=64, hashes=2, cohorts=8, f=0.5))
    client.report("a")
    path = tmp_path / "client.json"
    client.save(path)
    state = json.loads(path.read_text())
    if change == "protocol":
        state["protocol"]["bits"] = 100
    elif change == "memory":
        state["memory"]["a"] = [1, 2]
    elif change == "cohort":
        state["cohort"] = 8
    text = json.dumps(state)
    path.write_text(text[: len(text) // 2] if change == "cut" else change if change in ("", "{") else text)
    with pytest.raises(BadFile):
        RapporClient.load(path)


def test_rule_8_what_was_memoised_from_a_seed_stays_marked(tmp_path: Path) -> None:
    protocol, path = Rappor(bits=16, hashes=1, cohorts=4, f=0.5, p=0.25, q=0.75), tmp_path / "state.json"
    strong, by_cohort = RapporClient(protocol), RapporClient(protocol, rng=np.random.default_rng(1))
    given_cohort = RapporClient(protocol, cohort=2, rng=np.random.default_rng(1))
    assert [strong.report("a").seeded, by_cohort.report("a").seeded, given_cohort.report("a").seeded] == [
        False,
        True,
        False,
    ]
    assert strong.report("a", rng=np.random.default_rng(2)).seeded  # the fresh noise alone: this report only
    assert not strong.report("a").seeded
    strong.report("b", rng=np.random.default_rng(3))  # a memory drawn from a seed: every report from now on
    assert strong.report("b").seeded
    strong.save(path)
    assert RapporClient.load(path).report("b").seeded
    path.write_text(json.dumps({**json.loads(path.read_text()), "seeded": 0}))
    with pytest.raises(BadFile):
        RapporClient.load(path)


def test_rule_2_any_text_yields_a_report(tmp_path: Path) -> None:
    protocol, client = Rappor(bits=16, hashes=1, cohorts=4, f=0.5), None
    odd: list[Any] = ["", "\ud800", "a\udc00b", None, 10**5000, 5, [], "\ud83d\ude00"]
    assert len(protocol.randomise(odd)) == len(odd)
    assert bloom.utf8("a\udc00b") == "a\ufffdb".encode()
    assert bloom.utf8("\ud83d\ude00") == "😀".encode()
    client = RapporClient(protocol)
    before = [client.report(value).values.tolist() for value in odd]
    client.save(tmp_path / "state.json")
    again = RapporClient.load(tmp_path / "state.json")
    assert [again.report(value).values.tolist() for value in odd] == before  # one-time reports: the memory itself


def test_a_tally_survives_its_json() -> None:
    protocol = Rappor(bits=70, hashes=2, cohorts=3, f=0.5, p=0.25, q=0.75)
    tally = protocol.tally(protocol.randomise(["a", "b", "c"] * 20, rng=np.random.default_rng(1)))
    block = json.loads(json.dumps(tally.to_json()))
    assert tally_from_json(block) == tally
    for change in ({"counts": [[1]]}, {"answers": [1, 2]}, {"answers": [0, 0, 0]}, {"seeded": "no"}, {"protocol": {}}):  # type: ignore[var-annotated]
        with pytest.raises(BadFile):
            tally_from_json({**block, **change})


def test_rule_8_clients_draw_their_own_noise() -> None:
    protocol = Rappor(bits=128, hashes=2, cohorts=1, f=0.5)
    one, two = RapporClient(protocol), RapporClient(protocol)
    assert one.report("a").values.tolist() != two.report("a").values.tolist()


def test_tallies_of_cohorts_merge() -> None:
    protocol = Rappor(bits=70, hashes=2, cohorts=3, f=0.5, p=0.5, q=0.75)
    one, two = (protocol.tally(protocol.randomise(["x", "y"] * n)) for n in (10, 7))
    both = one + two
    assert both.people.sum() == 34
    assert (both.counts == one.counts + two.counts).all()
    with pytest.raises(InvalidArgument, match="same protocol"):
        one + Rappor(bits=70, hashes=2, cohorts=3, f=0.25).tally(
            Rappor(bits=70, hashes=2, cohorts=3, f=0.25).randomise(["x"])
        )


def test_any_number_of_bits_works() -> None:
    """A known client stops at 32 bits."""
    for size in (2, 31, 33, 64, 100, 1000):
        protocol = Rappor(bits=size, hashes=2, cohorts=2, f=0.5, p=0.25, q=0.75)
        assert protocol.tally(protocol.randomise(["a", "b", "c"])).counts.shape == (2, size)


def mixed(x: int) -> int:
    x ^= x >> 16
    x = x * 0x7FEB352D % (1 << 32)
    x ^= x >> 15
    x = x * 0x846CA68B % (1 << 32)
    return x ^ (x >> 16)


def test_the_hash_is_what_its_description_says() -> None:
    text = "naïve café".encode()
    one, two = 0x811C9DC5, 0x9E3779B9
    for byte in text:
        one = (one ^ byte) * 0x01000193 % (1 << 32)
        two = (two ^ byte) * 0x85EBCA6B % (1 << 32)
        two ^= two >> 13
    digests = np.empty((1, 2), np.uint32)
    digest_texts(np.frombuffer(text, np.uint8), np.array([len(text)]), digests)
    assert digests.tolist() == [[mixed(one), mixed((two + len(text)) % (1 << 32))]]
    places = np.empty((1, 3), np.int32)
    positions(digests, np.array([5], np.int32), 3, 100, places)
    a, b = digests[0].tolist()
    expected = [mixed((b + mixed((a + mixed(5 * 3 + j + 1)) % (1 << 32))) % (1 << 32)) * 100 >> 32 for j in range(3)]
    assert places.tolist() == [expected]


def test_hashes_spread_over_bits_and_cohorts() -> None:
    places = bloom.candidate_places([f"string {i}" for i in range(4096)], cohorts=16, hashes=2, bits=64)
    assert_law(np.bincount(places.ravel(), minlength=64), np.full(64, 1 / 64))
    same = (places[:, :, 0] == places[:, :, 1]).sum()
    assert_law([same, places[:, :, 0].size - same], [1 / 64, 63 / 64])
    again = (places[:, 0] == places[:, 1]).sum()
    assert_law([again, places[:, 0].size - again], [1 / 64, 63 / 64])


def test_the_protocol_survives_its_json_and_notices_tampering() -> None:
    protocol = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
    block = json.loads(json.dumps(protocol.to_json()))
    assert protocol_from_json(block) == protocol
    block["law"]["f"] = "1/4"
    with pytest.raises(BadFile, match="changed"):
        protocol_from_json(block)
    with pytest.raises(BadFile):
        protocol_from_json({})


@pytest.mark.parametrize(
    "settings",
    [{"bits": 1}, {"hashes": 0}, {"cohorts": 0}, {"f": 1}, {"f": -0.1}, {"p": 0.5, "q": 0.5}, {"p": 2}, {"bits": 2.5}],
)
def test_settings_that_say_nothing_are_refused(settings: dict[str, float]) -> None:
    with pytest.raises(InvalidArgument):
        Rappor(**{"bits": 128, "hashes": 2, "cohorts": 16, "f": 0.5, "p": 0.5, "q": 0.75, **settings})  # type: ignore[arg-type]


def test_rule_9_a_truth_that_is_memoised_is_said_to_leak() -> None:
    protocol = Rappor(bits=128, hashes=2, cohorts=16, f=0, p=0.5, q=0.75)
    assert protocol.law.forever == math.inf
    with pytest.raises(NotPrivate, match="f=0"):
        protocol.privacy()
    good = Rappor(bits=128, hashes=2, cohorts=16, f=0.5, p=0.5, q=0.75)
    assert good.privacy(values=3).epsilon == 3 * good.law.forever
    assert good.privacy().neighbours == LOCAL


def test_basic_rappor_is_a_frequency_protocol() -> None:
    protocol, people = BasicRappor(["a", "b", "c"], f=0.5, p=0.5, q=0.75), 65_536
    assert float(protocol.epsilon) == pytest.approx(1.074 / 2, abs=1e-3)
    tally = protocol.tally(protocol.randomise(["b"] * people, rng=np.random.default_rng(3)))
    for place, count in enumerate(tally.counts):
        chance = float(protocol.support.true if place == 1 else protocol.support.false)
        assert_law([count, people - count], [chance, 1 - chance])
    assert protocol_from_json(json.dumps(protocol.to_json())) == protocol


def test_basic_one_time_rappor_is_symmetric_unary_encoding() -> None:
    protocol = BasicRappor(5, f=0.5)
    true, false = protocol.support.true, protocol.support.false
    assert (true, false) == (0.75, 0.25)
    assert float(protocol.loss) == pytest.approx(2 * math.log(3))
    assert protocol.at(1.0).loss <= 1
    assert int(ONE * false) * 4 == ONE
