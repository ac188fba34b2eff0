"""Chooses which rows of each person count, by a limit and a keyed hash."""
