"""How a study says that it did not see all the images that it is about."""

from __future__ import annotations

import polars

from bruit.apps.data.images import Images
from bruit.apps.findings import Size


def images_used(images: Images, size: Size) -> str:
    """What was looked at in place of the whole set; empty where it was the whole set."""
    if images.stands_in:
        return f"stand-in: {len(images.train)} enlarged digits of 8 by 8 pixels"
    return f"only {len(images.train)} images" if size == "small" else ""


def titled(title: str, used: str) -> str:
    """The title of a figure, with what was used."""
    return f"{title} ({used})" if used else title


def marked(table: polars.DataFrame, used: str) -> polars.DataFrame:
    """A table whose last column says in every row what was used."""
    return table.with_columns(data=polars.lit(used)) if used else table


def trial_run(about: str, used: str) -> str:
    """The sentence shown in place of findings where stand-in images, or only a few, were used."""
    return (
        f"A trial run ({used}): it shows that the study of {about} runs, and says nothing about {about}. "
        "Its figures are in its tables and stand beside nobody's."
    )
