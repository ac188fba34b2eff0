"""Noise correlated across training steps, so that later steps partly cancel the noise of earlier ones."""

from bruit.deep.noise.correlated import INDEPENDENT, Banded
from bruit.deep.noise.correlated_stream import Correlated
from bruit.deep.noise.record_groups import Groups, fresh_key

__all__ = ["INDEPENDENT", "Banded", "Correlated", "Groups", "fresh_key"]
