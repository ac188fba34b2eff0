"""PyTorch training with DP-SGD."""

import bruit.deep.presence  # noqa: F401  # isort: skip  first, to say what is missing
from bruit.deep.batch_norm import replace_batch_norm
from bruit.deep.clipping import Clipping
from bruit.deep.correlated import Banded
from bruit.deep.door import privatise
from bruit.deep.engine import Engine
from bruit.deep.examination import Structure, examine
from bruit.deep.features import FrozenHead, Over, Recipe, Scattering, Whitening, scattered, train_head
from bruit.deep.losses import cross_entropy
from bruit.deep.memory import Forecast, forecast, largest_batch
from bruit.deep.rules import RULES
from bruit.deep.sampling import Batch, PoissonSampler
from bruit.deep.train import train
from bruit.deep.training import Training

__all__ = [
    "RULES",
    "Banded",
    "Batch",
    "Clipping",
    "Engine",
    "Forecast",
    "FrozenHead",
    "Over",
    "PoissonSampler",
    "Recipe",
    "Scattering",
    "Structure",
    "Training",
    "Whitening",
    "cross_entropy",
    "examine",
    "forecast",
    "largest_batch",
    "privatise",
    "replace_batch_norm",
    "scattered",
    "train",
    "train_head",
]
