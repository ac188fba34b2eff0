"""A lazy frame whose rows come in batches, produced again for every release, so that memory holds one batch."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import polars
from polars.io.plugins import register_io_source


def in_batches(
    batches: Callable[[list[str] | None], Iterator[polars.DataFrame]], schema: Mapping[str, Any]
) -> polars.LazyFrame:
    """A lazy frame over `batches`, a function that yields frames of the columns asked (None: all)."""

    def source(
        columns: list[str] | None, predicate: polars.Expr | None, rows: int | None, _size: int | None
    ) -> Iterator[polars.DataFrame]:
        left = rows
        for batch in batches(columns):
            frame = batch if left is None else batch.head(left)
            left = None if left is None else left - len(frame)
            yield frame if predicate is None else frame.filter(predicate)
            if left == 0:
                break

    return register_io_source(source, schema=schema)
