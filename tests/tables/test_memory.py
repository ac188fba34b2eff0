"""A file larger than the memory that reading it takes."""

import os
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
import bruit, polars
from bruit.central.questions import Limit, Question, count, mean
from bruit.tables.schema import Schema, number, whole

how, small, large, more, own = *sys.argv[1:4], *map(int, sys.argv[4:])

def source(path):
    if not how.startswith("duckdb"):
        return path
    import duckdb
    stated = {"memory_limit": f"{own}B", "temp_directory": path + ".spilled"} if how == "duckdb" else {}
    return duckdb.connect(config={"threads": 2, "preserve_insertion_order": False, **stated}).read_parquet(path)

def answer(path):
    columns = {"id": whole(), "cell": number(0, 9, grid=1), "x": number(0, 100, grid=1)}
    person = "each row" if how == "each row" else "id"
    stated = own if how == "people" else None
    table = bruit.tables.open_table(source(path), Schema(person, columns), memory=stated)
    limit = None if person == "each row" else Limit(rows=50)
    question = Question(table, {"n": count(), "x": mean(table["x"])}, {"cell": table["cell"]}, limit)
    book = bruit.Ledger("bound", epsilon=10**4, neighbours=bruit.ADD_OR_REMOVE_ONE, person=person)
    return question.release(budget=book.budget(epsilon=5000)).frame()

def addressed():
    with open("/proc/self/status") as status:
        return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmData"))

answer(small)
resource.setrlimit(resource.RLIMIT_DATA, (addressed() + more,) * 2)
if how == "all at once":
    print(len(polars.read_csv(large)))
else:
    print(answer(large).filter(polars.col("label").str.ends_with("n"))["value"].sum())
"""
"""Answers a question of a small table, then of a large one in at most so many bytes more."""

WIDE = "seen in the morning; to be seen again within six weeks"


def write_wide(folder: Path, kind: str, rows: int) -> Path:
    """A file of so many rows of a tenth as many people, made in parts."""
    path, part = folder / f"{rows}.{kind}", min(rows, 100_000)
    frames = []
    for seed in range(rows // part):
        rng = np.random.default_rng(seed)
        numbers = {"id": rng.integers(0, rows // 10, part), "cell": rng.integers(0, 10, part)}
        frames.append(pl.DataFrame(numbers | {"x": rng.integers(0, 101, part)}))
    if kind == "parquet":
        pl.concat(frames).write_parquet(path, compression="uncompressed", row_group_size=20_000)
        return path
    with path.open("wb") as file:
        for place, frame in enumerate(frames):
            frame.with_columns(note=pl.lit(WIDE)).write_csv(file, include_header=place == 0)
    return path


def run_bound(folder: Path, how: str, rows: int, more: int, own: int = 0) -> subprocess.CompletedProcess[str]:
    kind = "parquet" if how.startswith("duckdb") else "csv"
    paths = [str(write_wide(folder, kind, number)) for number in (1000, rows)]
    command = [sys.executable, "-c", BOUND, how, *paths, str(more), str(own)]
    threads = os.environ | {"POLARS_MAX_THREADS": "2"}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=threads)


MIB = 2**20
LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the limit is Linux's RLIMIT_DATA")


@LINUX
@pytest.mark.parametrize(
    ("how", "rows", "more", "own"),
    [
        ("each row", 1_500_000, 32 * MIB, 0),
        ("duckdb", 2_000_000, 128 * MIB, 32 * MIB),
        pytest.param("people", 1_500_000, 64 * MIB, 16 * MIB, marks=pytest.mark.stress),  # in fifty passes
        pytest.param("duckdb", 8_000_000, 224 * MIB, 128 * MIB, marks=pytest.mark.stress),
    ],
)
def test_a_large_table_is_answered_under_an_enforced_limit_of_memory(
    tmp_path: Path, how: str, rows: int, more: int, own: int
) -> None:
    """A CSV file of 100 MB, and a DuckDB told to take 32 MiB itself, whose choice of rows would take far more."""
    told = run_bound(tmp_path, how, rows, more, own)
    assert told.returncode == 0, told.stderr[-500:]
    assert float(told.stdout.splitlines()[-1]) == rows


@LINUX
@pytest.mark.parametrize(("how", "more"), [("all at once", 32 * MIB), ("duckdb unbound", 128 * MIB)])
def test_the_limit_of_memory_is_one(tmp_path: Path, how: str, more: int) -> None:
    """The same rows, read all at once by polars or by a DuckDB without a limit of its own, do not fit."""
    assert run_bound(tmp_path, how, 1_500_000 if how == "all at once" else 2_000_000, more).returncode != 0
