"""Running totals of a budget in whole units, rounded up so that no charge is lost."""

from __future__ import annotations

from fractions import Fraction
from typing import Final, NamedTuple

_DIVISIBLE: Final = 720_720
"""The least number that 1 … 16 all divide: a third, a seventh and a twelfth of a budget are whole numbers of units."""

PER_ONE: Final = _DIVISIBLE * 10**9
"""Units in an ε (or ρ, or Rényi divergence) of one; ten thousand still fits in 64 bits."""

PER_ONE_DELTA: Final = _DIVISIBLE * 10**12
"""Units in a δ of one."""

LARGEST: Final = 10_000
"""The largest ε a book may have."""


class Units(NamedTuple):
    """An amount in whole units: one number in the accountant's measure (ε, ρ or a divergence), one for δ."""

    main: int
    delta: int

    def plus(self, other: Units) -> Units:
        """The sum of both amounts."""
        return Units(self.main + other.main, self.delta + other.delta)

    def minus(self, other: Units) -> Units:
        """The difference of the two amounts."""
        return Units(self.main - other.main, self.delta - other.delta)

    def within(self, room: Units) -> bool:
        """Whether both numbers are at most those of `room`."""
        return self.main <= room.main and self.delta <= room.delta

    @property
    def exact(self) -> tuple[Fraction, Fraction]:
        """The two amounts as rationals."""
        return Fraction(self.main, PER_ONE), Fraction(self.delta, PER_ONE_DELTA)


NOTHING: Final = Units(0, 0)


def round_up(main: Fraction, delta: Fraction) -> Units:
    """Both amounts in whole units, rounded up, so that no charge is below the true loss."""
    return Units(_ceiling(main * PER_ONE), _ceiling(delta * PER_ONE_DELTA))


def round_down(main: Fraction, delta: Fraction) -> Units:
    """Both amounts in whole units, rounded down, so that no limit is above what was allowed."""
    return Units(int(main * PER_ONE // 1), int(delta * PER_ONE_DELTA // 1))


def _ceiling(value: Fraction) -> int:
    return -(-value.numerator // value.denominator)
