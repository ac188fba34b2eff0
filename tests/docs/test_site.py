"""The site: it builds with warnings as errors, and every public name stands in its reference."""

import os
import re
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

from scripts import reference

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)]
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    said = [line for line in built.stderr.splitlines() if line and not line.startswith("INFO")]
    assert (built.returncode, built.stdout, said) == (0, "", [])  # with --quiet no warning would be counted
    return folder


@pytest.mark.xdist_group("site")
def test_every_public_name_stands_in_the_reference(site: Path) -> None:
    for package in reference.packages():
        page = (site / "reference" / f"{package}.html").read_text()
        names = getattr(import_module(f"bruit.{package}"), "__all__", [])
        assert {name for name in names if f'id="bruit.{package}.{name}"' not in page} == set(), package


@pytest.mark.xdist_group("site")
def test_nothing_is_fetched_when_a_page_opens(site: Path) -> None:
    pages = [site / "index.html", site / "theory_quantiles.html", site / "reference" / "central.html"]
    loaded = [
        address
        for page in pages
        for address in re.findall(r'<(?:link|script|img)[^>]*(?:href|src)="(https?:[^"]*)"', page.read_text())
    ]
    assert loaded == []


@pytest.mark.xdist_group("site")
def test_formulas_are_drawn_by_the_browser(site: Path) -> None:
    written = {page: page.read_text().count("```math") for page in (ROOT / "docs").glob("*.md")}
    for page, formulas in written.items():
        assert (site / f"{page.stem}.html").read_text().count('<div class="formula"><math') == formulas, page.name
    assert sum(written.values()) >= 12


@pytest.mark.xdist_group("site")
def test_pages_follow_the_reader_s_light_or_dark(site: Path) -> None:
    schemes = re.findall(r'data-md-color-media="\(prefers-color-scheme: (\w+)\)"', (site / "index.html").read_text())
    assert set(schemes) == {"light", "dark"}


@pytest.mark.xdist_group("site")
def test_the_reader_may_change_the_language(site: Path) -> None:
    for page, language in (
        ("index.html", "en"),
        ("local.html", "en"),
        ("fr/index.html", "fr"),
        ("fr/cours.html", "fr"),
    ):
        text = (site / page).read_text()
        assert f'<html lang="{language}"' in text
        offered = dict(re.findall(r'<a href="([^"]*)" hreflang="(\w+)"', text))
        assert sorted(offered.values()) == ["en", "fr"]
        assert all((site / page).parent.joinpath(link).is_file() for link in offered)


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_no_page_of_the_root_has_a_broken_link(name: str) -> None:
    targets = re.findall(r"\]\(([^)#\s]+)[^)]*\)", (ROOT / name).read_text())
    local = [target for target in targets if not re.match(r"[a-z]+:", target)]
    assert [target for target in local if not (ROOT / target).exists()] == []
