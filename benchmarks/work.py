"""One process of a benchmark: `python -m benchmarks.work AREA CASE PEER` prints the figures of a few calls as JSON.

PEER is the number of the peer in the case, or -1 for ours. Only the work is timed; importing and preparing are not.
`BRUIT_BENCHMARK_CLOCK=cpu` counts the seconds of all cores that the process takes, and those that it started (Spark's,
say), which hardly change on a busy machine, instead of those that pass.
"""

import importlib
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.case import Case, Work

ENOUGH_SECONDS = 0.5
MOST_CALLS = 200


def cpu_seconds() -> float:
    """The seconds of all cores that this process and those that descend from it have taken."""
    return time.process_time() + sum(taken for _, taken in _descendants(os.getpid()))


def _descendants(ancestor: int) -> Iterator[tuple[int, float]]:
    """Each living process that descends from one, with the seconds it has taken; none where there is no /proc."""
    children: dict[int, list[tuple[int, float]]] = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        try:
            text = file.read_text()
        except OSError:  # ended meanwhile
            continue
        fields = text.rpartition(")")[2].split()  # of proc(5): the third on; a name may hold blanks
        taken = sum(int(ticks) for ticks in fields[11:15]) / os.sysconf("SC_CLK_TCK")  # with the ended children's
        children.setdefault(int(fields[1]), []).append((int(file.parent.name), taken))
    waiting = [ancestor]
    while waiting:
        found = children.get(waiting.pop(), [])
        yield from found
        waiting += [process for process, _ in found]


CLOCK = cpu_seconds if os.environ.get("BRUIT_BENCHMARK_CLOCK") == "cpu" else time.perf_counter


def measure(case: Case, work: Work) -> float:
    """The median figure of the calls, after one that only warms up."""
    if case.calls != 1:
        work()
    figures: list[float] = []
    began = time.perf_counter()
    while not _enough(case, len(figures), time.perf_counter() - began):
        start = CLOCK()
        answer = work()
        seconds = CLOCK() - start
        figures.append(float(answer) if case.returned else case.figure(seconds))  # type: ignore[arg-type]
    return statistics.median(figures)


def _enough(case: Case, calls: int, seconds: float) -> bool:
    if case.calls is not None:
        return calls >= case.calls
    return calls >= 3 and (seconds >= ENOUGH_SECONDS or calls >= MOST_CALLS)


def main(area: str, name: str, peer: int) -> None:
    """Runs one side of one case."""
    cases: list[Case] = importlib.import_module(f"benchmarks.{area}").CASES
    case = next(case for case in cases if case.name == name)
    prepare = case.ours if peer < 0 else case.peers[peer].prepare
    figure = measure(case, prepare())
    sys.stdout.write("\n" + json.dumps({"figure": figure, "bruit": "bruit" in sys.modules}) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
