"""Runs a function over a grid with repeats, in parallel and resumably, into tidy rows."""

__all__: list[str] = []
