"""Loaders of public data sets."""

__all__: list[str] = []
