"""Split polls: each answer is split between two collectors, neither of whom can read it. Experimental."""

from bruit.apps.web.collectors.serving import part

__all__ = ["part"]
