"""A privacy loss distribution discretised on an evenly spaced grid, ready to be convolved."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from bruit.privacy.accounting.gaussian import UNIT_ROUNDOFF

Floats = NDArray[np.float64]
MANY = 20_000


@dataclass(frozen=True)
class LossGrid:
    """Atoms of P-mass `masses[i]` at loss (first + i) * step, and `infinite` P-mass of infinite loss."""

    step: float
    first: int
    masses: Floats
    infinite: float

    @property
    def losses(self) -> Floats:
        """The loss of each atom."""
        return np.asarray((self.first + np.arange(len(self.masses))) * self.step, np.float64)

    @property
    def last(self) -> int:
        """The grid index of the highest atom."""
        return self.first + len(self.masses) - 1


def connect_dots(losses: Floats, masses: Floats, infinite: float, step: float) -> LossGrid:
    """Discretises a loss distribution pessimistically: splits each atom between the two grid losses around it.

    Both its P-mass and its Q-mass are kept, which fixes the shares: (1 - e^(low - loss)) / (1 - e^-step) goes up.
    Every hockey-stick divergence can only grow.                           [Doroshenko et al. 2022, Theorem 4.2]
    """
    nearest = np.round(losses / step)
    on_grid = np.abs(losses - nearest * step) <= 64 * UNIT_ROUNDOFF * np.maximum(1, np.abs(losses))
    below = np.where(on_grid, nearest, np.floor(losses / step)).astype(np.int64)
    share = np.where(on_grid, 0.0, np.clip(np.expm1(below * step - losses) / np.expm1(-step), 0, 1))
    first = int(below.min())
    size = int(below.max()) - first + 2
    grid = np.zeros(size)
    grid += np.bincount(below - first, masses * (1 - share), size)
    grid += np.bincount(below - first + 1, masses * share, size)
    return LossGrid(step, first, grid[:-1] if grid[-1] == 0 else grid, infinite)


def dots_of_cells(first: int, step: float, p_mass: Floats, excess: Floats, below: float, infinite: float) -> LossGrid:
    """Discretises pessimistically, as `connect_dots`, a law given by its P-mass and `excess` in each grid cell.

    The excess is P-mass minus e^loss times Q-mass, the loss taken at the lower end of the cell.
    The mass `below` the first cell is raised to its lower end.
    """
    up = np.clip(excess / -np.expm1(-step), 0, p_mass)
    masses = np.zeros(len(p_mass) + 1)
    masses[1:] += up
    masses[:-1] += p_mass - up
    masses[0] += below
    return LossGrid(step, first, masses, infinite)


def log_moments(losses: Floats, masses: Floats, tilts: Floats) -> Floats:
    """The ln of sum(masses * exp(tilt * losses)) for each tilt."""
    keep = masses > 0
    losses, log_masses = losses[keep], np.log(masses[keep])
    if len(losses) > MANY:  # a row of the table at a time
        return np.array([float(special.logsumexp(tilt * losses + log_masses)) for tilt in tilts])
    exponents = tilts[:, None] * losses + log_masses
    top = exponents.max(axis=1)
    return np.asarray(top + np.log(np.exp(exponents - top[:, None]).sum(axis=1)))
