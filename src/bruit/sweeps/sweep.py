"""Runs one function over a grid with repeats, in this process or in several."""

import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from itertools import islice
from multiprocessing import get_context
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import polars

from bruit.core.arguments import whole
from bruit.errors import BruitError, InvalidArgument
from bruit.randomness import words
from bruit.sweeps.points import Grid, Point, Value, describe_point, points_of, stream
from bruit.sweeps.records import ROOT_WORDS, Key, Records, Row

Function = Callable[..., Mapping[str, Value]]
"""Called as `function(rng=..., **point)`; tells a number (or a text) for each name."""

Batch = Sequence[tuple[Key, Point]]

BATCHES = 1000
"""A sweep is handed out in at most about so many batches: a kill loses at most that share of it for each worker."""


def run(
    function: Function,
    grid: Grid,
    *,
    repeats: int,
    rng: np.random.Generator | None = None,
    workers: int = 1,
    file: str | PathLike[str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> polars.DataFrame:
    """Runs the function at each point and repeat; gives one row each: the point's values, `repeat`, the results.

    Each repeat of each point draws from a stream of its own, so the rows do not depend on `workers`, on the order of
    the work, or on how often it was interrupted. With `file`, what is finished is kept there and not run again; more
    repeats may be asked for later. Several workers are fresh processes: the function must stand at the top of a
    module, and a script must guard its own start with `if __name__ == "__main__"`.
    """
    points = points_of(grid)
    _check(function, repeats, workers)
    wanted = [(number, repeat) for number in range(len(points)) for repeat in range(repeats)]
    root = None if rng is None else words(rng, ROOT_WORDS).tolist()
    path = None if file is None else Path(file)
    tell = on_progress or _tell_nobody
    with Records(path, function=_name(function), points=points, root=root) as records:
        batches = _batches([(key, points[key[0]]) for key in wanted if key not in records.rows])
        done = len(wanted) - sum(map(len, batches))
        tell(done, len(wanted))
        for rows in _work(function, batches, records.root, workers):
            records.add(rows)
            done += len(rows)
            tell(done, len(wanted))
        return _frame(points, wanted, records.rows)


def _work(function: Function, batches: Sequence[Batch], root: Sequence[int], workers: int) -> Iterator[dict[Key, Row]]:
    """Runs the batches, here or in worker processes, and yields the rows of each as it finishes."""
    if workers == 1 or len(batches) < 2:
        yield from (_run_batch(function, root, batch) for batch in batches)
        return
    # A forked copy of a process that has used polars can hang: fresh processes only.
    pool = ProcessPoolExecutor(
        min(workers, len(batches)), get_context("spawn"), initializer=_adopt, initargs=(function, root)
    )
    try:
        yield from _as_completed(pool, batches, ahead=2 * workers)
    except BrokenProcessPool as error:
        raise InvalidArgument(
            f"workers={workers}: a worker process could not start or died; put the function in a module, "
            'guard a script with if __name__ == "__main__", or use workers=1'
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)


def _as_completed(pool: ProcessPoolExecutor, batches: Sequence[Batch], *, ahead: int) -> Iterator[dict[Key, Row]]:
    """Keeps a few batches ahead of the workers, so that a failure stops the sweep soon.

    The error that comes out is that of the first failing batch in the order of the grid, whoever was faster.
    """
    waiting = iter(batches)
    running: list[Future[dict[Key, Row]]] = [pool.submit(_run_adopted, batch) for batch in islice(waiting, ahead)]
    while running:
        finished = wait(running, return_when=FIRST_COMPLETED).done
        failed = any(future.exception() for future in finished)
        for future in running if failed else finished:
            yield future.result()
        running = [future for future in running if future not in finished]
        running += [pool.submit(_run_adopted, batch) for batch in islice(waiting, len(finished))]


_adopted: dict[str, Any] = {}
"""What a worker process was given when it started."""


def _adopt(function: Function, root: Sequence[int]) -> None:
    _adopted.update(function=function, root=root)


def _run_adopted(batch: Batch) -> dict[Key, Row]:
    try:
        return _run_batch(_adopted["function"], _adopted["root"], batch)
    except Exception as error:
        if not _survives_pickling(error):
            kind = BruitError if isinstance(error, BruitError) else RuntimeError
            raise kind("\n".join([f"{type(error).__name__}: {error}", *error.__notes__])) from None
        raise


def _run_batch(function: Function, root: Sequence[int], batch: Batch) -> dict[Key, Row]:
    return {key: _run_one(function, root, point, key[1]) for key, point in batch}


def _run_one(function: Function, root: Sequence[int], point: Point, repeat: int) -> Row:
    try:
        said = function(rng=stream(root, point, repeat), **point)
        row = {name: value.item() if isinstance(value, np.generic) else value for name, value in said.items()}
        _check_row(row, point)
    except Exception as error:
        error.add_note(f"in the sweep at {describe_point(point, repeat)}")
        raise
    return row


def _check_row(row: Row, point: Point) -> None:
    for name, value in row.items():
        if name in point or name == "repeat":
            raise InvalidArgument(
                f"the function gives {name!r}, which is also a name of the grid; call it something else"
            )
        if not isinstance(value, str | int | float | bool | None):
            raise InvalidArgument(f"the function gives {name}={value!r}; give a number, a text, a truth value or None")


def _survives_pickling(error: Exception) -> bool:
    """Whether the error can travel between processes: one with a constructor of its own often cannot."""
    try:
        return str(pickle.loads(pickle.dumps(error))) == str(error)
    except Exception:
        return False


def _batches(todo: Batch) -> list[Batch]:
    size = -(-len(todo) // BATCHES) or 1
    return [todo[start : start + size] for start in range(0, len(todo), size)]


def _frame(points: Sequence[Point], wanted: Sequence[Key], rows: Mapping[Key, Row]) -> polars.DataFrame:
    tidy = [{**points[number], "repeat": repeat, **rows[number, repeat]} for number, repeat in wanted]
    return polars.DataFrame(tidy, infer_schema_length=None)


def _check(function: Function, repeats: int, workers: int) -> None:
    for name, value in (("repeats", repeats), ("workers", workers)):
        whole(value, name)
    if workers > 1:
        try:
            pickle.dumps(function)
        except Exception as error:
            raise InvalidArgument(
                f"workers={workers}: {_name(function)} cannot be sent to another process; "
                "put it at the top of a module, or use workers=1"
            ) from error


def _tell_nobody(_done: int, _total: int) -> None:
    """Ignores progress: the default listener."""


def _name(function: Function) -> str:
    inner = getattr(function, "func", function)  # of a functools.partial
    return getattr(inner, "__qualname__", type(inner).__qualname__)
