"""Figures of releases, curves and channels."""

__all__: list[str] = []
