"""Split polls: each answer is secret-shared between two collectors, neither of which can read it. Experimental."""

from bruit.apps.web.collectors.serving import part

__all__ = ["part"]
