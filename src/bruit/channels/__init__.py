"""Noisy channels whose law is exact, their JSON, and how they combine."""

__all__: list[str] = []
