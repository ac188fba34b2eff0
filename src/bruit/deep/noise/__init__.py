"""Noise that is correlated from step to step, so that what one step adds the next ones take back in part."""

from bruit.deep.noise.correlated import INDEPENDENT, Banded
from bruit.deep.noise.correlated_stream import Correlated
from bruit.deep.noise.record_groups import Groups, fresh_key

__all__ = ["INDEPENDENT", "Banded", "Correlated", "Groups", "fresh_key"]
