"""Loaders: the folder you name, then the cache, then the publisher; never a file that is not the published one."""

import hashlib
import io
from dataclasses import replace
from importlib.machinery import ModuleSpec
from pathlib import Path
from typing import Any
from urllib.error import URLError

import polars
import pytest

from bruit.apps import data
from bruit.apps.data import files, magazine
from bruit.errors import BadFile, MissingData, MissingExtra

CONTENT = b"published"
FILE = files.PublicFile("set/file.csv", "https://publisher.example/file.csv", (hashlib.sha256(CONTENT).hexdigest(),))


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    if "real" not in request.node.name:
        monkeypatch.setenv("BRUIT_DATA", str(tmp_path / "named"))
    monkeypatch.setattr(files, "cache", lambda: tmp_path / "cache")
    monkeypatch.setattr(files, "urlopen", unreachable)
    return tmp_path


def unreachable(*_: object, **__: Any) -> io.BytesIO:
    raise URLError("no network")


def put(path: Path, content: bytes) -> Path:
    path.parent.mkdir(parents=True)
    path.write_bytes(content)
    return path


def test_the_named_folder_comes_before_the_cache(folders: Path) -> None:
    cached = put(folders / "cache" / FILE.path, CONTENT)
    assert files.find(FILE) == cached
    named = put(folders / "named" / FILE.path, CONTENT)
    assert files.find(FILE) == named


def test_the_publisher_comes_last_and_is_kept_in_the_cache(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "urlopen", lambda address, timeout: io.BytesIO(CONTENT))
    assert files.find(FILE).read_bytes() == CONTENT
    monkeypatch.setattr(files, "urlopen", unreachable)
    assert files.find(FILE) == folders / "cache" / FILE.path
    assert [path.name for path in (folders / "cache" / "set").iterdir()] == ["file.csv"]


def test_what_is_not_the_published_file_is_refused(folders: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "urlopen", lambda address, timeout: io.BytesIO(b"another"))
    with pytest.raises(BadFile, match="nothing was kept"):
        files.find(FILE)
    assert not (folders / "cache").exists()
    put(folders / "named" / FILE.path, b"another")
    with pytest.raises(BadFile, match="remove it"):
        files.find(FILE)


def test_a_mirror_stands_in_for_a_publisher_that_is_gone_or_has_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def answer(address: str, timeout: float) -> io.BytesIO:
        asked.append(address)
        if "gone" in address:
            raise URLError("no such host")
        return io.BytesIO(CONTENT if "mirror" in address else b"changed")

    monkeypatch.setattr(files, "urlopen", answer)
    mirrored = replace(FILE, mirrors=("https://gone.example/file.csv", "https://mirror.example/file.csv"))
    assert files.find(mirrored).read_bytes() == CONTENT
    assert asked == [mirrored.address, *mirrored.mirrors]


def test_people_are_the_same_at_every_call_and_none_is_real() -> None:
    assert data.people(50).equals(data.people(50))
    assert data.people(50)["email"].str.ends_with("@example.org").all()


def test_a_file_that_is_nowhere_says_where_to_put_it() -> None:
    with pytest.raises(MissingData, match="BRUIT_DATA"):
        files.find(FILE)


def test_real_adult_has_the_published_rows_and_domains() -> None:
    try:
        frame = data.adult("all")
    except MissingData as reason:
        pytest.skip(str(reason))
    assert (data.adult().height, data.adult("test").height, frame.height) == (32_561, 16_281, 48_842)
    names = ["workclass", "education", "occupation", "relationship", "race", "sex", "native-country", "marital-status"]
    assert [frame[name].n_unique() for name in names] == [9, 16, 15, 6, 5, 2, 42, 7]
    assert frame["income"].unique().sort().to_list() == ["<=50K", ">50K"]
    assert frame.filter(polars.col("workclass") == "?").height == 2799


def test_fair_is_the_survey_of_6366_women() -> None:
    frame = data.fair()
    assert frame.height == 6366
    assert frame["unfaithful"].sum() == 2053


@pytest.mark.parametrize("found", [None, ModuleSpec("statsmodels", None)])
def test_without_statsmodels_the_pip_line_is_told(found: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(magazine, "find_spec", lambda name: found)
    with pytest.raises(MissingExtra, match=r"pip install 'bruit\[demo\]'"):
        data.fair()
