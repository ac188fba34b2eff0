"""Precomputed image features, and classifier heads trained privately on them."""

from bruit.deep.features.head import FrozenHead, train_head
from bruit.deep.features.preparation import Over, Preparation, Whitening
from bruit.deep.features.recipe import Recipe
from bruit.deep.features.scattering import Scattering, scattering_features

__all__ = [
    "FrozenHead",
    "Over",
    "Preparation",
    "Recipe",
    "Scattering",
    "Whitening",
    "scattering_features",
    "train_head",
]
