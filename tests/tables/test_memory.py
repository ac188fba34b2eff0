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
