"""A table larger than the memory stated for it: the choice of rows stays below, and the integers are the same."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

ROWS, PEOPLE = 6_000_000, 1_500_000
MEMORY, READING = 256 * 2**20, 320 * 2**20
"""What is stated for the choice of rows, and what reading a file in blocks takes beside it, whatever its size."""

MEASURE = """
import sys, threading
import numpy
import bruit
from bruit.central.questions import Limit, Question, count, mean
from bruit.tables.schema import Schema, number, whole

def private():
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) for line in status if line.startswith("RssAnon"))

def read(path, memory):
    columns = {"id": whole(), "cell": number(0, 119, grid=1), "x": number(0, 1000, grid=1)}
    table = bruit.tables.open_table(path, Schema("id", columns), memory=memory)
    asked = Question(table, {"n": count(), "m": mean(table["x"])}, {"cell": table["cell"]}, Limit(rows=3))
    exact = asked.reader.read(numpy.random.default_rng(1))
    return asked.reader.passes, [int(part @ numpy.arange(1, 121)) for part in exact.parts]

memory = int(sys.argv[3]) or None
read(sys.argv[1], memory)
before = most = private()
done = threading.Event()
def watch():
    global most
    while not done.wait(0.002):
        most = max(most, private())
watcher = threading.Thread(target=watch)
watcher.start()
passes, integers = read(sys.argv[2], memory)
done.set()
watcher.join()
print(passes, (most - before) * 1024, *integers)
"""


@pytest.mark.stress
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the memory of a process is read from /proc")
def test_a_table_is_chosen_from_within_its_stated_memory(tmp_path: Path) -> None:
    rng, few, many = np.random.default_rng(1), tmp_path / "few.csv", tmp_path / "many.csv"
    frame = pl.DataFrame(
        {"id": rng.integers(0, PEOPLE, ROWS), "cell": rng.integers(0, 120, ROWS), "x": rng.integers(0, 1001, ROWS)}
    )
    frame.head(10).write_csv(few)
    frame.write_csv(many)
    answers = []
    for memory in (MEMORY, 0):
        command = [sys.executable, "-c", MEASURE, str(few), str(many), str(memory)]
        told = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
        answers.append(list(map(int, told)))
    (passes, grown, *integers), (one, free, *expected) = answers
    assert (passes > 1, one) == (True, 1)
    assert grown < MEMORY + READING
    assert grown < free
    assert integers == expected
