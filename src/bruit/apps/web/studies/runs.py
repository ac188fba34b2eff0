"""Studies started from the browser, each in a separate process."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from fastapi import FastAPI

PROGRAM = "from bruit.apps.cli import main; main()"


@dataclass
class Runs:
    """The last run of each study; only one runs at a time, so that a server with two cores still responds."""

    processes: dict[str, asyncio.subprocess.Process] = field(default_factory=dict)

    def state(self, name: str) -> str:
        """Whether a study is running, has failed, or neither."""
        process = self.processes.get(name)
        if process is None:
            return ""
        if process.returncode is None:
            return "running"
        return "failed" if process.returncode else ""

    @property
    def busy(self) -> bool:
        """Whether any study is running."""
        return any(process.returncode is None for process in self.processes.values())

    async def start(self, name: str, folder: Path) -> None:
        """Starts a study at its small size; its output is discarded."""
        quiet = asyncio.subprocess.DEVNULL
        command = (sys.executable, "-c", PROGRAM, "study", name, "--small", "--folder", str(folder))
        self.processes[name] = await asyncio.create_subprocess_exec(*command, stdout=quiet, stderr=quiet)

    async def stop(self) -> None:
        """Ends the running study."""
        for process in self.processes.values():
            with suppress(ProcessLookupError):
                process.kill()
            await process.wait()


@asynccontextmanager
async def running(app: FastAPI) -> AsyncIterator[None]:
    """Lifespan context that ends running studies with the application."""
    app.state.studies = Runs()
    try:
        yield
    finally:
        await app.state.studies.stop()
