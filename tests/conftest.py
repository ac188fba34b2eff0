"""Settings shared by every test, and the gate's table of times at the end of a run."""

import os
from collections import defaultdict
from pathlib import Path

import pytest
from entropy import named_entropy  # noqa: F401  (every test draws the same at its next run)
from hypothesis import settings
from postgres import postgres  # noqa: F401  (one server for every test that asks for it)
from spark import cluster, spark  # noqa: F401  (one cluster and one session likewise)

from scripts import gate

settings.register_profile("gate", deadline=None, derandomize=True)
settings.load_profile("gate")

beside = Path(__file__).parents[2] / "shared" / "data"
if beside.is_dir():
    os.environ.setdefault("BRUIT_DATA", str(beside))


class GateTimes:
    """Sums the seconds that the tests of each part took."""

    def __init__(self) -> None:
        self.took: dict[str, float] = defaultdict(float)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.took[gate.part_of(report.nodeid.partition("::")[0], report.keywords)] += report.duration

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
        workers = int(config.getoption("numprocesses", 0) or 1)
        took = gate.noted() | {part: seconds / workers for part, seconds in self.took.items()}
        terminalreporter.section(f"the gate's time (tests: seconds of work shared by {workers} processes)")
        terminalreporter.write_line("\n".join(gate.table(took)))


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keeps the tests of a file in one process: what a file compiles, serves or computes once is not done in both.

    Notebooks, pages and studies are few and long and share nothing: they come last, one by one, and even out the load.
    Browsers, clusters and databases run by clocks of their own: what fails with one of them is tried once more, and the
    summary counts it. Nothing else is tried twice.
    """
    for item in items:
        if item.get_closest_marker("service") is not None and item.get_closest_marker("stress") is None:
            item.add_marker(pytest.mark.flaky(reruns=1))
        path = item.nodeid.partition("::")[0]
        apart = gate.part_of(path, item.keywords) == "notebooks, docs, studies"
        if not apart and item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(path))


def pytest_configure(config: pytest.Config) -> None:
    """Only the process that sees every report prints the table; those that it starts have a core each.

    Threads of torch that share a core with another process wait for each other by turning round: a tiny network then
    takes twenty times as long.
    """
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(GateTimes(), "gate times")
        os.environ.setdefault("OMP_NUM_THREADS", "1")
