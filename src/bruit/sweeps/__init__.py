"""Runs a function over a grid with repeats, in parallel and resumably, into tidy rows."""

from bruit.sweeps.summaries import summary
from bruit.sweeps.sweep import run

__all__ = ["run", "summary"]
