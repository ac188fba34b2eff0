"""Intervals and tests beside the published tests; `python -m benchmarks.inference` prints whole grids."""

from __future__ import annotations

from functools import partial

from benchmarks.case import Case, Peer, Work

TIMES = 400
SHOWN = ("mean", "proportion", "difference of means", "ratio of shares", "quantile", "correlation", "slope")
TESTS = {
    "Mann–Whitney, 4 cells": (0.1, 1.0),
    "analysis of variance, rank sums": (0.1, 1.0),
    "analysis of variance, 2 cells": (0.1, 1.0),
    "independence, 3 by 3": (0.1, 1.0),
    "two proportions": (0.1, 1.0),
    "slope, 3 by 3": (0.1, 1.0),
}


def off_by(name: str) -> Work:
    """How far coverage at n = 1000, ε = 1 lies from 95 %."""
    from benchmarks.inference.designs import coverage

    return lambda: abs(coverage(name, 1000, 1.0, 5 * TIMES) - 0.95)


def power(name: str, epsilon: float, side: str) -> Work:
    """How often ours, or the published test, rejects."""
    from benchmarks.inference.published import COMPARISONS, PEOPLE

    compared = COMPARISONS[name][1]
    run = compared.power_of_ours if side == "ours" else compared.power_of_published
    return lambda: run(PEOPLE[name][epsilon], epsilon, TIMES)


def question(name: str) -> Work:
    """One call on a noisy table of three by three cells."""
    from benchmarks.inference.designs import tables
    from bruit import inference
    from bruit.apps.studies.inference import TOGETHER

    counts = next(iter(tables(TOGETHER, 1000, 1.0, 1, 0)))
    return lambda: getattr(inference, name)(counts)


CASES = [
    *(
        Case(
            f"coverage, {name}", "off 95 %", "lower", partial(off_by, name), goal=0.02, returned=True, calls=1, rounds=1
        )
        for name in SHOWN
    ),
    *(
        Case(
            f"power, {name}, ε = {epsilon}",
            "power",
            "higher",
            partial(power, name, epsilon, "ours"),
            (Peer("the published test", partial(power, name, epsilon, "published"), times=0.9, here=True),),
            returned=True,
            calls=1,
            rounds=1,
        )
        for name, epsilons in TESTS.items()
        for epsilon in epsilons
    ),
    *(Case(f"one call, {name}", "s", "lower", partial(question, name)) for name in ("slope", "independence", "anova")),
]
