"""The auditor finds what is there and nothing else: null data, exact laws, planted faults."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from laws import ALARM, binomial_window
from numpy.typing import NDArray

from bruit.audit import Verdict, audit
from bruit.errors import InvalidArgument

Mechanism = Callable[[Any, int, np.random.Generator], NDArray[Any]]


def laplace(scale: float) -> Mechanism:
    return lambda centre, samples, rng: rng.laplace(centre, scale, samples)


def geometric(epsilon: float) -> Mechanism:
    success = -math.expm1(-epsilon)
    return lambda count, samples, rng: count + rng.geometric(success, samples) - rng.geometric(success, samples)


def response(epsilon: float) -> Mechanism:
    keep = 1 / (1 + math.exp(-epsilon))
    return lambda truth, samples, rng: np.where(rng.random(samples) < keep, truth, 1 - truth)


def rows(scale: float) -> Mechanism:
    return lambda centre, samples, rng: centre + rng.laplace(0, scale, (samples, len(centre)))


def bits(keep: float) -> Mechanism:
    return lambda truth, samples, rng: (rng.random((samples, len(truth))) < keep) == truth


NULLS = {
    "discrete": (geometric(1.0), (3, 3)),
    "continuous": (laplace(1.0), (0.0, 0.0)),
    "few cells": (response(0.0), (0, 1)),
    "small vector": (bits(0.8), (np.array([True, False]),) * 2),
    "long vector": (rows(1.0), (np.zeros(6),) * 2),
    "text": (lambda data, samples, rng: rng.choice(["yes", "no"], samples), (0, 1)),
    "a constant": (lambda data, samples, rng: np.zeros(samples), (0, 1)),
    "repeated values": (
        lambda data, samples, rng: np.where(
            rng.random(samples) < 0.5, rng.integers(0, 40, samples) * 1e6, rng.laplace(0, 1, samples)
        ),
        (0, 1),
    ),
    "mixed kinds": (lambda data, samples, rng: rng.integers(0, 9, samples).astype([np.uint64, float][data]), (0, 1)),
    "not a number": (
        lambda data, samples, rng: np.where(rng.random(samples) < 0.1, np.nan, rng.random(samples)),
        (0, 1),
    ),
}


@pytest.mark.parametrize("name", NULLS)
def test_null_data_raises_the_alarm_no_more_often_than_stated(name: str) -> None:
    mechanism, pair = NULLS[name]
    rng, runs, alarm = np.random.default_rng(11), 300, 0.1
    alarms = sum(
        not audit(mechanism, pair, claimed=0.0, samples=2000, alarm=alarm, rng=rng).passes for _ in range(runs)
    )
    assert alarms <= binomial_window(runs, alarm, ALARM)[1]


# (mechanism, pair, delta, the true epsilon of the pair, the least bound that 200 000 samples must reach)
EXACT = {
    "two points": (response(1.0), (0, 1), 0.0, 1.0, 0.93),
    "Laplace": (laplace(1.0), (0.0, 1.0), 0.0, 1.0, 0.91),
    "geometric": (geometric(0.5), (7, 8), 0.0, 0.5, 0.43),
    "clamped Laplace": (lambda c, n, rng: np.clip(rng.laplace(c, 1, n), 0, 10), (0.0, 1.0), 0.0, 1.0, 0.91),
    "two of four bits": (bits(0.75), (np.eye(4)[0] > 0, np.eye(4)[1] > 0), 0.0, 2 * math.log(3), 2.05),
    "two of forty bits": (bits(0.75), (np.eye(40)[0] > 0, np.eye(40)[1] > 0), 0.0, 2 * math.log(3), 2.05),
    "three coordinates": (rows(1.0), (np.zeros(3), np.array([0.5, 0.5, 0.0])), 0.0, 1.0, 0.85),
    # The two-point law (3/4, 1/4) against (1/4, 3/4) is (log(2.6), 0.1)-private and no better.
    "two points with delta": (response(math.log(3)), (0, 1), 0.1, math.log(2.6), 0.9),
    "texts": (lambda t, n, rng: np.where(response(1.0)(t, n, rng) == 1, "yes", "no"), (0, 1), 0.0, 1.0, 0.93),
}


@pytest.mark.parametrize("name", EXACT)
def test_the_bound_is_near_the_truth_and_not_above_it(name: str) -> None:
    mechanism, pair, delta, truth, least = EXACT[name]
    for ordered in (pair, pair[::-1]):
        rng = np.random.default_rng(12)
        verdict = audit(mechanism, ordered, claimed=truth, samples=200_000, alarm=1e-9, delta=delta, rng=rng)
        assert least <= verdict.lower_bound <= truth
        assert verdict.passes


def test_a_million_samples_put_a_correct_laplace_above_98_hundredths() -> None:
    verdict = audit(laplace(1.0), (0.0, 1.0), claimed=1.0, samples=1_000_000, alarm=0.05, rng=np.random.default_rng(13))
    assert 0.98 <= verdict.lower_bound <= 1.0


@pytest.mark.parametrize("mechanism", [laplace(1 / 1.05), geometric(1.05), response(1.05)])
def test_five_hundredths_of_missing_noise_are_caught(mechanism: Mechanism) -> None:
    verdict = audit(mechanism, (0, 1), claimed=1.0, samples=1_000_000, alarm=1e-9, rng=np.random.default_rng(14))
    assert not verdict.passes
    assert 1.0 < verdict.lower_bound <= 1.05


@pytest.mark.parametrize("mechanism", [laplace(0.5), geometric(2.0), response(2.0)])
def test_halved_noise_is_caught_with_few_samples(mechanism: Mechanism) -> None:
    assert not audit(mechanism, (0, 1), claimed=1.0, samples=5000, alarm=1e-9, rng=np.random.default_rng(15)).passes


def test_gaussian_noise_sold_as_pure_is_caught() -> None:
    def gaussian(centre: float, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return rng.normal(centre, 1.0, samples)

    assert not audit(gaussian, (0, 1), claimed=1.0, samples=50_000, alarm=1e-9, rng=np.random.default_rng(16)).passes


def test_an_output_that_only_one_side_gives_is_found() -> None:
    def leak(secret: bool, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        noise = rng.laplace(0, 1, samples)
        return np.where(rng.random(samples) < 0.002, 1000.0 if secret else 0.0, noise)

    assert not audit(
        leak, (False, True), claimed=1.0, samples=200_000, alarm=1e-9, rng=np.random.default_rng(17)
    ).passes


@pytest.mark.parametrize("chance", [0.001, 0.003, 0.01])
def test_a_rare_exact_publication_is_found(chance: float) -> None:
    def leak(record: float, samples: int, rng: np.random.Generator) -> NDArray[np.float64]:
        return np.where(rng.random(samples) < chance, 1e9 + record, rng.laplace(record, 1, samples))

    for seed in range(4):
        rng = np.random.default_rng(seed)
        assert not audit(leak, (0.0, 1.0), claimed=1.0, samples=200_000, alarm=1e-6, rng=rng).passes


KINDS = [(np.uint64, np.int64), (np.int64, np.float64), (np.int64, np.longlong), (object, np.int64)]


@pytest.mark.parametrize(("one", "other"), KINDS, ids=str)
def test_large_numbers_are_told_apart_whatever_arrays_they_come_in(one: type, other: type) -> None:
    def published(record: int, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        return np.full(samples, 2**60 + record, dtype=one if record else other)

    verdict = audit(published, (0, 1), claimed=0.1, samples=2000, alarm=1e-6, rng=np.random.default_rng(20))
    assert not verdict.passes


@pytest.mark.parametrize(("one", "other"), KINDS, ids=str)
def test_equal_numbers_are_equal_whatever_arrays_they_come_in(one: type, other: type) -> None:
    def same(record: int, samples: int, rng: np.random.Generator) -> NDArray[Any]:
        return rng.integers(0, 3, samples).astype(one if record else other)

    verdict = audit(same, (0, 1), claimed=0.1, samples=2000, alarm=1e-6, rng=np.random.default_rng(21))
    assert verdict.passes


@pytest.mark.parametrize(
    "event",
    [
        lambda outputs: np.stack([outputs > 0, outputs > 0], 1),
        lambda outputs: outputs[outputs > 1] > 0,
        lambda outputs: True,
        lambda outputs: np.where(outputs > 0, 1.0, 0.0),
        lambda outputs: (outputs > 0).astype(int),
    ],
)
def test_an_event_that_does_not_say_yes_or_no_of_every_output_is_refused(event: Any) -> None:
    with pytest.raises(InvalidArgument, match="one truth value for each"):
        audit(laplace(1.0), (0.0, 1.0), claimed=1.0, samples=100, alarm=0.1, event=event)


def test_a_declared_event_is_tried_on_every_sample_in_both_directions() -> None:
    learnt = audit(laplace(1.0), (0.0, 1.0), claimed=1, samples=50_000, alarm=1e-9, rng=np.random.default_rng(18))
    for pair in ((0.0, 1.0), (1.0, 0.0)):
        declared = audit(
            laplace(1.0),
            pair,
            claimed=1,
            samples=50_000,
            alarm=1e-9,
            event=lambda outputs: outputs <= 0,
            rng=np.random.default_rng(18),
        )
        assert learnt.lower_bound < declared.lower_bound <= 1
        assert declared.event == "declared"


def test_the_event_is_told_to_a_person() -> None:
    verdict = audit(response(1.0), (0, 1), claimed=1.0, samples=5000, alarm=1e-9, rng=np.random.default_rng(19))
    assert verdict.event in ("0", "1")
    smooth = audit(laplace(1.0), (0.0, 40.0), claimed=1, samples=5000, alarm=1e-9, rng=np.random.default_rng(19))
    assert smooth.event.startswith("(-∞, ") or smooth.event.endswith("∞)")


def test_a_verdict_says_everything_in_json() -> None:
    verdict = Verdict(lower_bound=1.5, claimed=1.0, delta=0.0, alarm=1e-9, samples=10, event="(0, 1]")
    assert verdict.to_json() == {
        "lower_bound": 1.5,
        "claimed": 1.0,
        "delta": 0.0,
        "alarm": 1e-9,
        "samples": 10,
        "event": "(0, 1]",
        "measure": "epsilon",
        "passes": False,
    }


@pytest.mark.parametrize(
    "wrong",
    [
        {"claimed": -1.0},
        {"claimed": math.nan},
        {"samples": 4},
        {"samples": 10.5},
        {"alarm": 0.0},
        {"alarm": 1.0},
        {"delta": 1.0},
    ],
)
def test_what_is_no_audit_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InvalidArgument):
        audit(laplace(1.0), (0, 1), **{"claimed": 1.0, "samples": 100, "alarm": 0.1, **wrong})


def test_a_mechanism_must_give_one_row_a_sample() -> None:
    with pytest.raises(InvalidArgument, match="one row for each sample"):
        audit(lambda data, samples, rng: np.zeros(3), (0, 1), claimed=1.0, samples=100, alarm=0.1)


@pytest.mark.parametrize("width", [np.float64, np.float32])
def test_the_sign_of_a_zero_is_seen(width: type) -> None:
    """Once both zeros were one number: who prints the float, or sends its bytes, shows which it was."""

    def zeros(sign: float, samples: int, _rng: np.random.Generator) -> NDArray[Any]:
        return np.asarray(sign * np.zeros(samples), width)

    verdict = audit(zeros, (1.0, -1.0), claimed=1.0, samples=4000, alarm=ALARM)
    assert not verdict.passes
    null = audit(zeros, (-1.0, -1.0), claimed=0.0, samples=4000, alarm=ALARM)
    assert null.passes


def test_rows_of_another_width_tell_the_tables_apart() -> None:
    """Once NumPy's own error: who gets three numbers for one table and two for the other needs no test."""
    verdict = audit(lambda width, n, _rng: np.zeros((n, width)), (2, 3), claimed=1.0, samples=4000, alarm=ALARM)
    assert not verdict.passes
