"""A progress line on stderr: steps done and the ε spent so far."""

from __future__ import annotations

import sys
from typing import TextIO

from bruit.deep.training.training import Training

WIDTH = 24
UPDATES = 50
"""So often the line changes in a run: the ε so far takes some milliseconds to compute."""


class Line:
    """A progress bar with the steps done, the ε spent so far and the ε charged for the run."""

    def __init__(self, training: Training, stream: TextIO | None = None) -> None:
        self.training, self.stream = training, sys.stderr if stream is None else stream
        self._every = max(1, training.steps // UPDATES)

    def update(self) -> None:
        """Redraws the line after every few steps, and ends it with the last step."""
        done, steps = self.training.done, self.training.steps
        if done % self._every and done < steps:
            return
        bar = ("━" * (WIDTH * done // steps)).ljust(WIDTH)
        spent, total = self.training.epsilon_so_far(), float(self.training.paid.guarantee.epsilon)
        text = f"\r{bar} step {done}/{steps}  ε {spent:.3f} of {total:.3f}"
        self.stream.write(text + ("\n" if done == steps else ""))
        self.stream.flush()
