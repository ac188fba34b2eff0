"""Questions asked again and again: what is memoised, and what it costs."""

import itertools
import math
import os
import stat
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bruit.channels import ONE
from bruit.errors import BadFile, InvalidArgument
from bruit.local import KRR, LOLOHA, OUE, Client, LongitudinalKRR, LongitudinalOUE, Rappor, RapporClient
from bruit.local.frequencies import bits
from bruit.local.longitudinal.memoised import Longitudinal

KINDS = [LongitudinalKRR, LongitudinalOUE, LOLOHA]


@settings(max_examples=25)
@given(st.integers(2, 50), st.floats(0.1, 5), st.floats(1.1, 4))
def test_two_stages_lose_no_more_than_asked(size: int, epsilon: float, ratio: float) -> None:
    for kind in KINDS:
        protocol = kind(size, epsilon=epsilon, forever=epsilon * ratio)
        assert protocol.loss <= protocol.epsilon
        assert protocol.loss > protocol.epsilon * 999 / 1000


@settings(max_examples=25)
@given(st.integers(2, 50), st.floats(0.1, 5), st.floats(1.1, 4))
def test_the_lasting_loss_is_that_of_the_memoised_stage(size: int, epsilon: float, ratio: float) -> None:
    krr = LongitudinalKRR(size, epsilon=epsilon, forever=epsilon * ratio)
    assert krr.permanent.epsilon <= krr.forever
    lolo = LOLOHA(size, epsilon=epsilon, forever=epsilon * ratio)
    assert lolo.permanent.epsilon <= lolo.forever
    true, false = LongitudinalOUE(size, epsilon=epsilon, forever=epsilon * ratio).permanent
    assert math.log(true * (ONE - false) / (false * (ONE - true))) <= epsilon * ratio * (1 + 1e-12)


def test_the_variance_is_right_when_there_is_memoised_noise() -> None:
    """A peer's longitudinal variance is wrong when f > 0: here the two-stage tally is compared with the closed form."""
    for kind in KINDS:
        protocol, rng = kind(3, epsilon=1, forever=2), np.random.default_rng(1)
        held = np.zeros(20_000, np.int32)
        counts = protocol.tally(protocol.randomise(held, rng=rng)).counts
        for place, count in enumerate(counts):
            chance = float(protocol.support.true if place == 0 else protocol.support.false)
            assert abs(count - 20_000 * chance) < 6.5 * math.sqrt(20_000 * chance * (1 - chance))
        s = protocol.support.mix([1, 0, 0])
        gap = np.asarray(protocol.support.gap)
        assert protocol.support.noise_variance([1, 0, 0], 1) == pytest.approx(s * (1 - s) / gap**2)


@pytest.mark.parametrize("kind", KINDS)
def test_a_client_reports_from_its_memory(kind: type[Longitudinal], tmp_path: Path) -> None:
    protocol = kind(["a", "b", "c", "d", "e"], epsilon=0.5, forever=1)
    client = Client(protocol)
    for answer in ("a", "b", "a", "c", "a"):
        assert len(client.report(answer)) == 1
    states = min(3, protocol.states)
    assert client.distinct <= states
    assert client.spent == client.distinct * protocol.forever <= protocol.states * protocol.forever
    client.save(tmp_path / "client.json")
    again = Client.load(tmp_path / "client.json")
    assert (again.protocol, again._memory, again._seed.tolist()) == (protocol, client._memory, client._seed.tolist())
    before = again.distinct
    again.report("a")
    assert again.distinct == before


@pytest.mark.parametrize("kind", KINDS)
def test_averaging_a_clients_reports_tells_its_memory_and_no_more(kind: type[Longitudinal]) -> None:
    """Many reports of one answer scatter around the memoised response, whatever the answer is."""
    protocol, rng = kind(4, epsilon=3, forever=4), np.random.default_rng(2)
    client = Client(protocol, rng=rng)
    seen = np.concatenate([client.report(1, rng=rng).values for _ in range(400)])
    memo = client._shaped(next(iter(client._memory.values())))
    if isinstance(protocol, LongitudinalKRR):
        assert np.bincount(seen).argmax() == memo[0]
    elif isinstance(protocol, LOLOHA):
        assert (seen[:, :2] == memo[0, :2]).all()
        assert np.bincount(seen[:, 2]).argmax() == memo[0, 2]
    else:
        shares = bits.unpacked(seen, 4).mean(axis=0)
        assert ((shares > 0.5) == bits.unpacked(memo, 4)[0]).all()


@pytest.mark.parametrize("kind", KINDS)
def test_rule_8_what_was_memoised_from_a_seed_stays_marked(kind: type[Longitudinal], tmp_path: Path) -> None:
    client = Client(kind(5, epsilon=1, forever=2))
    assert not client.report(1).seeded
    client.report(2, rng=np.random.default_rng(1))
    client.report(3, rng=np.random.default_rng(1))  # LOLOHA may hold the state of one of them already
    client.report(4, rng=np.random.default_rng(1))
    marked = client.seeded
    assert marked == (client.distinct > 1)
    client.save(tmp_path / "state.json")
    assert Client.load(tmp_path / "state.json").report(1).seeded == marked
    assert Client(kind(5, epsilon=1, forever=2), rng=np.random.default_rng(1)).seeded == (kind is LOLOHA)


def test_loloha_never_costs_more_than_its_buckets() -> None:
    client = Client(LOLOHA(100, epsilon=0.5, forever=1, buckets=3))
    for answer in range(100):
        client.report(answer)
    assert client.distinct == 3


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
def test_what_a_device_remembers_is_for_its_owner_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        (tmp_path / "a").write_text("left by another program")
        Client(LongitudinalKRR(2, epsilon=0.5, forever=1), path=tmp_path / "a").report(1)
        RapporClient(Rappor(bits=16, hashes=2, cohorts=2, f="0.5"), path=tmp_path / "b").report("a text")
    finally:
        os.umask(before)
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("a", "b")} == {0o600}


def chances(protocol: Longitudinal, reports: int) -> list[list[float]]:
    """The law of every sequence of reports of one state, summed over all memories; a row for each state."""
    return [law_of(protocol, (state,) * reports) for state in range(protocol.states)]


def law_of(protocol: Longitudinal, held: tuple[int, ...]) -> list[float]:
    """The law of every sequence of reports of the states held one after the other, each with a memory of its own."""
    if isinstance(protocol, LongitudinalOUE):
        true, false = (weight / ONE for weight in protocol.permanent)
        error, size = int(protocol.instantaneous.weights[0, 1]) / ONE, len(protocol.categories)
        memories = list(itertools.product([0, 1], repeat=size))

        def kept(memory: tuple[int, ...], state: int) -> float:
            ones = [true if place == state else false for place in range(size)]
            return math.prod(one if bit else 1 - one for one, bit in zip(ones, memory, strict=True))

        def fresh(memory: tuple[int, ...], said: tuple[int, ...]) -> float:
            return math.prod(1 - error if a == b else error for a, b in zip(memory, said, strict=True))

        symbols = memories
    else:
        first, second, size = protocol.permanent, protocol.instantaneous, protocol.states  # type: ignore[attr-defined]
        symbols = memories = [(state,) for state in range(size)]

        def kept(memory: tuple[int, ...], state: int) -> float:
            return (first.keep if memory[0] == state else first.other) / ONE

        def fresh(memory: tuple[int, ...], said: tuple[int, ...]) -> float:
            return (second.keep if memory == said else second.other) / ONE

    def said_by(state: int, sequence: tuple[tuple[int, ...], ...]) -> float:
        said = [each for each, holding in zip(sequence, held, strict=True) if holding == state]
        return sum(kept(memory, state) * math.prod(fresh(memory, each) for each in said) for memory in memories)

    every = itertools.product(symbols, repeat=len(held))
    return [math.prod(said_by(state, sequence) for state in set(held)) for sequence in every]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reports", [1, 2, 3])
def test_what_some_reports_cost_is_the_largest_ratio_over_every_sequence(
    kind: type[Longitudinal], reports: int
) -> None:
    protocol = kind(3, epsilon=1, forever=2.5)
    law = np.array(chances(protocol, reports))
    worst = max(float(np.log(one / other).max()) for one in law for other in law)
    assert float(protocol.after(reports)) == pytest.approx(worst, rel=1e-9)


def loss_between(protocol: Longitudinal, held: tuple[int, ...], other: tuple[int, ...]) -> float:
    """The exact loss between two histories of states."""
    return float(np.log(np.array(law_of(protocol, held)) / np.array(law_of(protocol, other))).max())


@pytest.mark.parametrize("kind", KINDS)
def test_what_a_client_has_spent_bounds_all_that_changed_at_the_same_times(kind: type[Longitudinal]) -> None:
    """And what fresh noise costs bounds all others, of which some are above what the client has spent."""
    protocol, above = kind(["a", "b"], epsilon=0.5, forever=1), 0
    histories = list(itertools.product(range(2), repeat=4))
    for held, other in itertools.product(histories, repeat=2):
        loss, spent = loss_between(protocol, held, other), protocol.forever * len(set(held))
        if held in (other, tuple(1 - state for state in other)):
            assert loss <= spent
        assert loss <= protocol.privacy(reports=4).epsilon == protocol.after_changes(4)
        above += loss > spent
    assert above
    with pytest.raises(InvalidArgument):
        protocol.after_changes(0)


def test_the_page_tells_how_well_a_change_is_seen() -> None:
    protocol = LongitudinalKRR(["no", "yes"], epsilon=0.5, forever=1)
    seen = loss_between(protocol, (0, 0, 0, 0, 1, 1, 1, 1), (0, 0, 0, 1, 0, 0, 0, 0))
    assert (round(seen, 2), round(float(protocol.after_changes(8)), 2)) == (4.33, 8.76)
    assert seen > protocol.states * protocol.forever
    assert seen > 8 * protocol.privacy().epsilon
    assert protocol.privacy().epsilon == protocol.epsilon


@settings(max_examples=25)
@given(st.integers(2, 50), st.floats(0.1, 5), st.floats(1.1, 4))
def test_more_reports_cost_more_from_the_first_to_forever(size: int, epsilon: float, ratio: float) -> None:
    for kind in KINDS:
        protocol = kind(size, epsilon=epsilon, forever=epsilon * ratio)
        spent = [protocol.after(n) for n in (1, 2, 4, 7, 300, 10_001)]
        assert spent == sorted(spent)
        assert (spent[0], spent[-1]) == (protocol.loss, protocol.forever)


def test_a_release_promises_what_holds_however_often_one_answers() -> None:
    protocol = LongitudinalKRR(["a", "b", "c"], epsilon=1, forever=2)
    spent = [float(protocol.guarantee(reports=n).epsilon) for n in (1, 2, 4, 7)]
    assert spent == pytest.approx([1.0, 1.66, 1.98, 2.0], abs=0.006)
    promised = protocol.estimate(protocol.tally(protocol.randomise(["a"] * 50 + ["b"] * 50))).guarantee
    assert promised.epsilon == 2
    assert "any number of reports" in str(promised)
    assert "a first report ε = 1)" in str(promised)
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(InvalidArgument, match="reports"):
            protocol.guarantee(reports=wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_a_crash_before_a_report_leaves_counts_it(
    kind: type[Longitudinal], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "client.json"
    client = Client(kind(5, epsilon=1, forever=2), path=path)
    assert Client.load(path)._seed.tolist() == client._seed.tolist()

    def crash(*_: object, **__: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as broken:
        broken.setattr(kind, "respond", crash)
        with pytest.raises(KeyboardInterrupt):
            client.report(1)
    after = Client.load(path)
    assert (after._memory, after.distinct) == (client._memory, 1)
    for answer in range(5):
        after.report(answer)
        assert Client.load(path)._memory == after._memory


def test_a_state_that_could_not_be_written_lets_no_report_leave(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    client = Client(LongitudinalKRR(3, epsilon=1, forever=2))
    client.save(tmp_path / "client.json")

    def full(*_: object) -> None:
        raise OSError("no space left")

    with monkeypatch.context() as broken:
        broken.setattr(os, "fsync", full)
        for _ in range(2):  # the second time its state is in memory, but still on no disk
            with pytest.raises(OSError, match="no space"):
                client.report(1)
        assert Client.load(tmp_path / "client.json").distinct == 0
    client.report(1)
    assert Client.load(tmp_path / "client.json").distinct == 1


@pytest.mark.parametrize("change", ["", "{}", '{"protocol": {}}'])
def test_a_damaged_client_state_is_refused(tmp_path: Path, change: str) -> None:
    path = tmp_path / "client.json"
    path.write_text(change)
    with pytest.raises(BadFile):
        Client.load(path)


@pytest.mark.parametrize("kind", KINDS)
def test_a_cut_memory_is_refused(kind: type[Longitudinal], tmp_path: Path) -> None:
    client = Client(kind(3, epsilon=1, forever=2))
    client.report(0)
    client._memory = {0: [10**9, 1, 2, 3]}
    client.save(tmp_path / "client.json")
    with pytest.raises(BadFile):
        Client.load(tmp_path / "client.json")


@pytest.mark.parametrize("kind", KINDS)
def test_another_epsilon_changes_the_two_losses_alone(kind: type[Longitudinal]) -> None:
    settings = {"buckets": 5} if kind is LOLOHA else {}
    protocol = kind(["a", "b", "c"], epsilon=1, forever=3, other=True, **settings)
    assert protocol.at(2) == kind(["a", "b", "c"], epsilon=2, forever=6, other=True, **settings)


def test_one_report_must_cost_less_than_all() -> None:
    for kind in KINDS:
        with pytest.raises(InvalidArgument, match="forever"):
            kind(3, epsilon=2, forever=1)
    with pytest.raises(InvalidArgument, match="longitudinal"):
        Client(KRR(3, epsilon=1))  # type: ignore[arg-type]


def test_memory_costs_accuracy_next_to_one_report() -> None:
    assert LongitudinalKRR(5, epsilon=1, forever=2).expected_error(1000) == pytest.approx(
        KRR(5, epsilon=1).expected_error(1000), rel=1e-6
    )
    assert LongitudinalOUE(100, epsilon=1, forever=2).expected_error(1000, share=0) >= 0.99 * OUE(
        100, epsilon=1
    ).expected_error(1000, share=0)
