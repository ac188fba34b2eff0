"""A shuffler: a separate process that shuffles reports before the collector sees them."""

from bruit.apps.web.shuffler.mixing import Shuffler
from bruit.apps.web.shuffler.serving import application

__all__ = ["Shuffler", "application"]
