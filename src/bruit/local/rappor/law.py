"""RAPPOR's noise parameters: permanent noise drawn once per value, and fresh noise per report."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from bruit.channels import ONE, FiniteChannel, binary, log_above, loss_of
from bruit.core.arguments import whole
from bruit.core.numbers import Exact, exactly
from bruit.errors import InvalidArgument


@dataclass(frozen=True, init=False)
class RapporLaw:
    """The parameters f, p, q and the number of bits that one value sets.      [Erlingsson, Pihur & Korolova 2014]

    Permanent: a bit is replaced by a fair coin with chance f, once. Instantaneous: a memoised 1 is reported as 1 with
    chance q, a 0 with chance p, each time. Two values differ in at most 2h bits, h each way.
    """

    f: Fraction
    p: Fraction
    q: Fraction
    hashes: int

    def __init__(self, *, f: Exact, p: Exact, q: Exact, hashes: int) -> None:
        read: dict[str, Fraction] = {name: exactly(value, name) for name, value in {"f": f, "p": p, "q": q}.items()}
        for name, value in read.items():
            if not 0 <= value <= 1:
                raise InvalidArgument(f"{name}={value} must lie from 0 to 1")
        if read["f"] == 1 or read["p"] == read["q"]:
            raise InvalidArgument("f=1 or p=q makes reports that say nothing: take f below 1 and p and q apart")
        for name, part in {**read, "hashes": hashes}.items():
            object.__setattr__(self, name, part)

    @property
    def one_time(self) -> bool:
        """Whether memoised bits are reported without further noise."""
        return self.p == 0 and self.q == 1

    @cached_property
    def permanent(self) -> FiniteChannel:
        """The channel from a true bit to the memoised one: kept with probability 1 - f/2."""
        return binary(error=self.f / 2)

    @cached_property
    def instantaneous(self) -> FiniteChannel:
        """The channel from a memoised bit to a reported one."""
        return binary(zero_to_one=self.p, one_to_zero=1 - self.q)

    @cached_property
    def report(self) -> FiniteChannel:
        """The channel from a true bit to a reported one: 1 with probability q* given 1 and p* given 0."""
        return self.permanent if self.one_time else self.permanent.then(self.instantaneous)

    @cached_property
    def forever(self) -> Fraction | float:
        """The privacy loss of one value however often it is reported: 2h ln((1 - f/2) / (f/2)), rounded up."""
        keep, lie = map(int, self.permanent.weights[0])
        return loss_of(keep, lie) * 2 * self.hashes

    @cached_property
    def once(self) -> Fraction | float:
        """The privacy loss of one report: h ln(q* (1 - p*) / (p* (1 - q*))), rounded up."""
        return self.after(1)

    def after(self, reports: int) -> Fraction | float:
        """An upper bound, tight up to rounding, on the epsilon of `reports` reports of one value.

        Given the true bit b, the number of ones of a bit's reports is a mixture of two binomial laws. Its likelihood
        ratio is monotone in that number, so the worst reports are all ones on the h bits of one value and all zeros on
        those of the other: h ln(R(n) / R(0)), R(c) = P(c | 1) / P(c | 0).
        """
        reports = whole(reports, "reports")
        keep, lie = map(int, self.permanent.weights[0])
        (zero_zero, zero_one), (one_zero, one_one) = ((int(a), int(b)) for a, b in self.instantaneous.weights)
        if self.p > self.q:  # a one then speaks for a zero
            (zero_zero, zero_one), (one_zero, one_one) = (zero_one, zero_zero), (one_one, one_zero)
        ones_if_one, ones_if_zero = one_one**reports, zero_one**reports
        zeros_if_one, zeros_if_zero = one_zero**reports, zero_zero**reports
        top = (keep * ones_if_one + lie * ones_if_zero) * (keep * zeros_if_zero + lie * zeros_if_one)
        bottom = (keep * ones_if_zero + lie * ones_if_one) * (keep * zeros_if_one + lie * zeros_if_zero)
        return loss_of(top, bottom) * self.hashes

    def to_json(self) -> dict[str, Any]:
        """The law in JSON types: f, p and q, and how often a bit is 1 after each stage, out of 2^52."""
        stages = {"permanent": self.permanent, "instantaneous": self.instantaneous, "report": self.report}
        weights = {name: [int(row[1]) for row in stage.weights] for name, stage in stages.items()}
        settings = {"f": str(self.f), "p": str(self.p), "q": str(self.q)}
        return {**settings, "hashes": self.hashes, "out_of": ONE, "ones": weights}


def optimal_f(epsilon: Fraction, hashes: int) -> Fraction:
    """The smallest f for which one-time RAPPOR costs at most epsilon: f/2 = 1 / (e^(epsilon / 2h) + 1), rounded up."""
    from bruit.channels import share

    lie = share(epsilon / (2 * hashes), 1)
    while 2 * hashes * log_above(ONE - lie, lie) > epsilon:
        lie += 1
    return Fraction(2 * lie, ONE)
