"""Exact integer counts and sums of a table on several engines, with per-person bounding."""

__all__: list[str] = []
