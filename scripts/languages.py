"""Marks the language of each page while MkDocs builds, so that screen readers pronounce French pages as French."""

from typing import Any

from mkdocs.structure.pages import Page

FRENCH = "fr/"
"""The folder of the French pages."""


def on_post_page(output: str, *, page: Page, **_: Any) -> str:
    """The page with its own language stated."""
    if not page.file.src_uri.startswith(FRENCH):
        return output
    return output.replace('<html lang="en"', '<html lang="fr"', 1)
