"""A real server on a free port of this machine, and a real Chromium before it.

Give every test that asks for one `pytest.mark.service` and `pytest.mark.xdist_group("web")`; a test that also asks for
PostgreSQL joins the group "postgres" instead.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
KEY = "a-key-for-the-tests-0123456789"
PATIENCE = 180
"""Seconds until a server that says nothing counts as broken."""

PHONE = {"width": 390, "height": 844}
DESK = {"width": 1280, "height": 900}


@dataclass
class Site:
    """A running `bruit serve`."""

    address: str
    process: subprocess.Popen[str]
    database: str
    key: str = KEY
    certificate: Any = True

    def client(self, **options: Any) -> httpx.Client:
        """Somebody without a browser."""
        return httpx.Client(base_url=self.address, timeout=30, **({"verify": self.certificate} | options))

    def steward(self) -> httpx.Client:
        """The steward without a browser."""
        return self.client(headers={"authorization": f"Bearer {self.key}"})

    def kill(self) -> None:
        """Ends the server at once, as a crash would."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(20)

    def stop(self) -> str:
        """Ends the server as Ctrl+C does; what it wrote to its log."""
        self.process.send_signal(signal.SIGINT)
        return self.process.communicate(timeout=20)[1]


def start(
    database: str, port: int = 0, options: Sequence[str] = (), certificate: Any = True, descriptors: int = 0
) -> Site:
    """Starts `bruit serve` over a database and waits until it listens."""
    bruit = str(Path(sys.executable).parent / "bruit")
    command = [bruit, "serve", "--json", "--port", str(port), "--key", KEY, "--report-rate", "20000", *options]
    environment = os.environ | {"OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}
    wrapped = ["bash", "-c", f'ulimit -n {descriptors}; exec "$@"', "-"] if descriptors else []
    process = subprocess.Popen(
        [*wrapped, *command, "--database", database],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdout is not None
    said = ""
    while not said.rstrip().endswith("}"):
        line = process.stdout.readline()
        assert line, process.communicate()[1]
        said += line
    site = Site(json.loads(said)["address"], process, database, certificate=certificate)
    with site.client() as client:  # the socket already listens: this waits for the application, and for a dead lease
        assert client.get("/", timeout=PATIENCE).status_code == 200
    return site


@pytest.fixture
def serve() -> Iterator[Callable[..., Site]]:
    """Starts servers that end with the test."""
    sites: list[Site] = []

    def make(database: str, *arguments: Any, **keywords: Any) -> Site:
        sites.append(start(database, *arguments, **keywords))
        return sites[-1]

    yield make
    for site in sites:
        if site.process.poll() is None:
            site.kill()


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """One server over SQLite for all tests of a worker that do not end it."""
    started = start(f"sqlite:///{tmp_path_factory.mktemp('web')}/bruit.db")
    yield started
    assert started.process.poll() is None, "the server ended before its tests did"
    assert started.stop() == "", "the server logged something"


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """A real Chromium."""
    playwright = pytest.importorskip("playwright.sync_api")
    if CHROMIUM is None:
        pytest.skip("no Chromium on this machine")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def visit(chromium: Any, site: Site, request: pytest.FixtureRequest) -> Iterator[Callable[..., Any]]:
    """Opens a page of the site as a new visitor: `visit("/polls", phone=True, steward=True)`.

    A page that logs an error to its console, breaks the content security policy or asks another host fails the test.
    """
    contexts, wrong = [], []

    def open_page(
        path: str, *, phone: bool = False, steward: bool = False, at: Site = site, language: str = "en-GB"
    ) -> Any:
        size: Any = {"viewport": PHONE if phone else DESK, "has_touch": phone, "is_mobile": phone}
        context = chromium.new_context(**size, accept_downloads=True, locale=language)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text) if _is_wrong(message) else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda asked: None if _own(asked.url, at) else wrong.append(f"asked {asked.url}"))
        if steward:
            page.goto(f"{at.address}/enter/{at.key}")
        page.goto(at.address + path)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert not wrong, wrong


def _is_wrong(message: Any) -> bool:
    """Whether the console says an error; that a request was refused is for the test itself to say."""
    return bool(message.type == "error" and not message.text.startswith("Failed to load resource"))


def _own(url: str, site: Site) -> bool:
    return url.startswith((site.address, "data:", "blob:"))


@pytest.fixture
def assert_accessible() -> Callable[[Any], None]:
    """Runs axe over a page: no violation."""
    from axe_playwright_python.sync_playwright import Axe
    from playwright.sync_api import Error

    def violations(page: Any, tries: int = 3) -> list[dict[str, Any]]:
        page.wait_for_load_state()
        try:
            return Axe().run(page).response["violations"]  # type: ignore[no-any-return]
        except Error:  # a click was still leaving the page before
            if tries == 1:
                raise
            return violations(page, tries - 1)

    def check(page: Any) -> None:
        found = violations(page)
        assert not found, [(one["id"], [node["html"][:200] for node in one["nodes"][:3]]) for one in found]

    return check


@pytest.fixture
def screenshot(request: pytest.FixtureRequest) -> Callable[[Any, str], None]:
    """Keeps a picture of a page where BRUIT_SCREENSHOTS names a folder, to be looked at."""

    def keep(page: Any, name: str) -> None:
        folder = os.environ.get("BRUIT_SCREENSHOTS")
        if folder:
            page.screenshot(path=Path(folder) / f"{name}.png", full_page=True)

    return keep
