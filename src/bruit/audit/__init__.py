"""Measures any callable from outside and says what epsilon it can really have."""

__all__: list[str] = []
