"""A file larger than the memory that reading it takes."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

ROWS, PARTS = 1_000_000, 8
MEASURE = """
import sys, threading, time
import numpy, polars
sys.path.insert(0, sys.argv[3])
import exact_integers as exact
from bruit import tables

def private():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

def column(path):
    return tables.read(path, person="each row")["x"].within(0, 1000, grid=1)

def answers(path):
    x = column(path)
    return exact.histogram(x).sum(), exact.total(x), exact.count(x)

answers(sys.argv[1])
before = most = private()
done = threading.Event()
def watch():
    global most
    while not done.wait(0.002):
        most = max(most, private())
watcher = threading.Thread(target=watch)
watcher.start()
counted = answers(sys.argv[2])
done.set()
watcher.join()
print(counted[0], counted[2], (most - before) * 1024)
"""


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory of a process is read from /proc")
def test_a_folder_is_reduced_in_less_memory_than_it_has_bytes(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    few, many = tmp_path / "few.parquet", tmp_path / "many"
    many.mkdir()
    pl.DataFrame({"x": rng.random(10) * 1000}).write_parquet(few)
    for part in range(PARTS):
        frame = pl.DataFrame({"x": rng.random(ROWS) * 1000, "y": rng.random(ROWS)})
        frame.write_parquet(many / f"{part}.parquet", compression="uncompressed", row_group_size=ROWS // 10)
    size = sum(file.stat().st_size for file in many.iterdir())
    tests = Path(__file__).parents[1]
    told = subprocess.run([sys.executable, "-c", MEASURE, few, many, tests], capture_output=True, text=True, check=True)
    histogram, count, grown = map(int, told.stdout.split())
    assert histogram == count == ROWS * PARTS
    assert grown < 0.75 * size


BOUND = """
import resource, sys
import bruit
from bruit.central.questions import Limit, Question, count, mean
from bruit.tables.schema import Schema, number, whole

kind, small, large, more = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])

def source(path):
    if kind != "duckdb":
        return path
    import duckdb
    limits = {"memory_limit": "48MB", "threads": 2, "temp_directory": path + ".spilled", "preserve_insertion_order": False}
    return duckdb.connect(config=limits).read_parquet(path)

def answer(path):
    columns = {"id": whole(), "cell": number(0, 9, grid=1), "x": number(0, 100, grid=1)}
    person = "id" if kind == "people" else "each row"
    table = bruit.tables.open_table(source(path), Schema(person, columns), memory=2**24 if kind == "people" else None)
    limit = Limit(rows=100) if kind == "people" else None
    question = Question(table, {"n": count(), "x": mean(table["x"])}, {"cell": table["cell"]}, limit)
    book = bruit.Ledger("bound", epsilon=10**6, neighbours=bruit.ADD_OR_REMOVE_ONE, person=person)
    return question.release(budget=book.budget(epsilon=10**5)).value

def addressed():
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmData"))

answer(small)
resource.setrlimit(resource.RLIMIT_DATA, (addressed() + more,) * 2)
if kind == "all at once":
    import polars
    print(len(polars.read_csv(large)))
else:
    print(float(answer(large)[::2].sum()))
"""
"""Answers a question of a small table, then of a large one with only so many bytes more than the process has taken."""

WIDE = "seen in the morning; to be seen again within six weeks"
NAMES = ("id", "cell", "x")


def wide_rows(number: int, *, seed: int) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    numbers = {"id": rng.integers(0, number // 10, number), "cell": rng.integers(0, 10, number)}
    return pl.DataFrame(numbers | {"x": rng.integers(0, 101, number)}).with_columns(note=pl.lit(WIDE))


def write_wide(folder: Path, kind: str, parts: int) -> Path:
    """A file of `parts` times 100 000 rows, larger than what holds it in memory."""
    if kind == "duckdb":
        path = folder / f"{parts}.parquet"
        pl.concat([wide_rows(100_000, seed=part).with_columns(y=pl.Series(np.random.default_rng(part).random(100_000))) for part in range(parts)]).write_parquet(path, compression="uncompressed", row_group_size=20_000)
        return path
    path = folder / f"{parts}.csv"
    with path.open("wb") as file:
        for part in range(parts):
            wide_rows(100_000, seed=part).write_csv(file, include_header=part == 0)
    return path
