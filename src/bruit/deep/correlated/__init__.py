"""Noise that is correlated from step to step, so that what one step adds the next ones take back in part."""

from bruit.deep.correlated.banded import INDEPENDENT, Banded
from bruit.deep.correlated.groups import Groups, fresh_key
from bruit.deep.correlated.stream import Correlated

__all__ = ["INDEPENDENT", "Banded", "Correlated", "Groups", "fresh_key"]
