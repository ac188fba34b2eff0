"""Round ticks and readable numbers for the axes of charts."""

from __future__ import annotations

from math import floor, log10

from bruit.apps.languages import FALLBACK, Language, format_number


def tick_places(low: float, high: float) -> list[float]:
    """About five round axis ticks that cover `low` to `high`, in steps of 1, 2 or 5 times a power of ten."""
    rough = (high - low) / 5 or 1.0
    power = 10.0 ** floor(log10(rough))
    step = power * next(factor for factor in (1, 2, 5, 10) if factor * power >= rough * 0.999)
    first, last = floor(low / step + 1e-9), -floor(-high / step + 1e-9)
    return [float(f"{place * step:.12g}") for place in range(first, max(last, first + 1) + 1)]


def written(value: float, language: Language = FALLBACK) -> str:
    """A number to be read by eye: thousands apart, four digits of a fraction."""
    if value == int(value) or abs(value) >= 1000:
        return f"{round(value):,}".replace(",", "\u202f")
    return format_number(value, ".4g", language)
