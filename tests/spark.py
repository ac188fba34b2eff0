"""A real Spark cluster for the tests, on loopback, from the pyspark wheel alone: the fixture `spark`.

A standalone master and two workers, each a process of its own, stopped by process id. Give every
test that asks for it `pytest.mark.service` and `pytest.mark.xdist_group("spark")`. Without Java 17 or pyspark it skips.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from scripts.system_parts import OLDEST_JAVA, java_version

WORKERS = 2
PATIENCE = 120
"""Seconds until a process that says nothing counts as broken."""

LEAN = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"
"""Java as it starts fastest: these processes live for a minute."""


class Cluster:
    """A master and its workers; an executor lives in the process group of its worker and dies with it."""

    def __init__(self, folder: Path) -> None:
        spec = find_spec("pyspark")
        assert spec is not None
        assert spec.origin is not None
        self.home, self.folder = Path(spec.origin).parent, folder
        self.workers: list[subprocess.Popen[bytes]] = []
        self._master, log = self._start("master.Master", "--host", "127.0.0.1", "--port", "0", "--webui-port", "0")
        self._log = log
        self.url = self._told(r"Starting Spark master at (spark://\S+)")[0]
        for _ in range(WORKERS):
            self.start_worker()
        self._told("Registering worker", times=WORKERS)

    def start_worker(self) -> None:
        """One more worker with one core."""
        small = ("--host", "127.0.0.1", "--webui-port", "0", "--cores", "1", "--memory", "600m")
        folder = self.folder / f"worker{len(self.workers)}"
        self.workers.append(self._start("worker.Worker", *small, "--work-dir", str(folder), self.url)[0])

    def kill_worker(self) -> None:
        """Ends one worker with its executor at once, as a machine that loses its power."""
        alive = next(worker for worker in self.workers if worker.poll() is None)
        os.killpg(alive.pid, signal.SIGKILL)
        alive.wait()

    def stop(self) -> None:
        """Ends every process that was started."""
        for process in (*self.workers, self._master):
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        for process in (*self.workers, self._master):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def _start(self, name: str, *arguments: str) -> tuple[subprocess.Popen[bytes], Path]:
        log = self.folder / f"{name}-{len(self.workers)}.log"
        settings = {
            "SPARK_HOME": str(self.home),
            "SPARK_DAEMON_MEMORY": "192m",
            "SPARK_DAEMON_JAVA_OPTS": LEAN,
            "SPARK_LOCAL_IP": "127.0.0.1",
        }
        command = ["bash", str(self.home / "bin" / "spark-class"), f"org.apache.spark.deploy.{name}", *arguments]
        with log.open("wb") as output:
            process = subprocess.Popen(
                command, env=os.environ | settings, stdout=output, stderr=output, start_new_session=True
            )
        return process, log

    def _told(self, pattern: str, *, times: int = 1) -> list[str]:
        """What the master's log says, as soon as it says it so many times."""
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and self._master.poll() is None:
            found = re.findall(pattern, self._log.read_text(errors="replace"))
            if len(found) >= times:
                return found
            time.sleep(0.1)
        raise RuntimeError(
            f"the Spark master did not say {pattern!r}:\n{self._log.read_text(errors='replace')[-2000:]}"
        )


@pytest.fixture(scope="session")
def cluster() -> Iterator[Cluster]:
    """One cluster for the tests of one worker of pytest."""
    if find_spec("pyspark") is None:
        pytest.skip("pyspark is not installed: pip install 'bruit[spark]'")
    version = java_version()
    if version is None or version < OLDEST_JAVA:
        pytest.skip(f"Spark needs Java {OLDEST_JAVA}; here is {version}")
    folder = Path(tempfile.mkdtemp(prefix="bruit-spark-"))
    made = Cluster(folder)
    yield made
    made.stop()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def spark(cluster: Cluster) -> Iterator[Any]:
    """One session on the cluster for the tests of one worker of pytest: what Spark compiled once stays warm."""
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    settings = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.extraJavaOptions": LEAN,
        "spark.executor.extraJavaOptions": LEAN,
        "spark.executor.memory": "512m",
        "spark.sql.shuffle.partitions": "2",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }
    builder = SparkSession.builder.master(cluster.url).appName("bruit")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()
