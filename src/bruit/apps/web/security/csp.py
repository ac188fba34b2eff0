"""The content security policy: scripts, styles and connections from this site only, nothing inline."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache

from bruit.apps.web.rendering import PLOTLY, static_file


@cache
def content_security_policy() -> str:
    """The CSP header value of every response.

    plotly opens an empty style element, filled through the object model, and one fixed style sheet for maps: both are
    named by the hash of their text, so nothing else inline gets through.
    """
    styles = " ".join(_hash(text) for text in ("", *_plotly_styles()))
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            f"style-src 'self' {styles}",
            "img-src 'self' data: blob:",
            "connect-src 'self'",
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _plotly_styles() -> list[str]:
    """The style sheets that plotly's own file puts into a page."""
    source = static_file(f"base/{PLOTLY}").read_text(encoding="utf-8")
    found = re.findall(r"createElement\(\"style\"\)[^{}]{0,200}?textContent='((?:[^'\\]|\\.)*)'", source)
    return [re.sub(r"\\(.)", lambda escape: {"n": "\n", "t": "\t"}.get(escape[1], escape[1]), text) for text in found]
