"""PyTorch training with DP-SGD."""

import bruit.deep._torch_required  # noqa: F401  # isort: skip  first, to say what is missing
from bruit.deep.checks.batch_norm import replace_batch_norm
from bruit.deep.checks.model_structure import Structure, examine
from bruit.deep.dp_sgd import train
from bruit.deep.features import FrozenHead, Over, Recipe, Scattering, Whitening, scattering_features, train_head
from bruit.deep.losses import cross_entropy
from bruit.deep.memory import Forecast, forecast, largest_batch
from bruit.deep.noise import Banded
from bruit.deep.own_loop import privatise
from bruit.deep.per_sample.clipping import Clipping
from bruit.deep.per_sample.ghost_clipping import Engine
from bruit.deep.per_sample.rules import RULES
from bruit.deep.searching import NetworkRecipe, RecipeSearch
from bruit.deep.training.adaptive_clip import AdaptiveClip
from bruit.deep.training.poisson_sampling import Batch, PoissonSampler
from bruit.deep.training.training import Training
from bruit.deep.training.views import Views, shifted
from bruit.deep.training.weight_average import WeightAverage
from bruit.deep.vision_pretraining import Eyes, eye_features, eye_views, load_eyes

__all__ = [
    "RULES",
    "AdaptiveClip",
    "Banded",
    "Batch",
    "Clipping",
    "Engine",
    "Eyes",
    "Forecast",
    "FrozenHead",
    "NetworkRecipe",
    "Over",
    "PoissonSampler",
    "Recipe",
    "RecipeSearch",
    "Scattering",
    "Structure",
    "Training",
    "Views",
    "WeightAverage",
    "Whitening",
    "cross_entropy",
    "examine",
    "eye_features",
    "eye_views",
    "forecast",
    "largest_batch",
    "load_eyes",
    "privatise",
    "replace_batch_norm",
    "scattering_features",
    "shifted",
    "train",
    "train_head",
]
