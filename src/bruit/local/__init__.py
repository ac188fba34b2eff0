"""Turns many noised answers into estimates with intervals: randomise, tally, estimate."""

__all__: list[str] = []
