"""Sweeps: tidy rows, streams of their own, files that survive."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import polars
import pytest
from polars.testing import assert_frame_equal
from sweeps import work

from bruit import sweeps
from bruit.errors import BadFile, BruitError, InvalidArgument, MissingExtra

GRID: dict[str, Any] = {"scale": [1, 2, 3], "kind": ["normal", "odd"]}


def seeded() -> np.random.Generator:
    return np.random.default_rng(5)


def test_there_is_one_tidy_row_for_each_point_and_repeat() -> None:
    frame = sweeps.run(work.draw, GRID, repeats=4, rng=seeded())
    assert frame.columns == ["scale", "kind", "repeat", "value", "length"]
    assert frame.select("scale", "kind", "repeat").rows() == [
        (scale, kind, repeat) for scale in (1, 2, 3) for kind in ("normal", "odd") for repeat in range(4)
    ]
    assert frame["value"].n_unique() == 24, "every repeat of every point draws from a stream of its own"
    assert frame["length"].to_list() == [6] * 4 + [3] * 4 + [6] * 4 + [3] * 4 + [6] * 4 + [3] * 4


def test_rows_do_not_depend_on_workers() -> None:
    alone = sweeps.run(work.draw, GRID, repeats=3, rng=seeded())
    assert_frame_equal(alone, sweeps.run(work.draw, GRID, repeats=3, rng=seeded(), workers=2))


def test_rows_of_a_point_do_not_depend_on_the_rest_of_the_grid() -> None:
    whole = sweeps.run(work.draw, GRID, repeats=3, rng=seeded())
    part = sweeps.run(work.draw, [{"scale": 2, "kind": "odd"}], repeats=2, rng=seeded())
    assert_frame_equal(part, whole.filter(scale=2, kind="odd").filter(polars.col("repeat") < 2))


def test_without_rng_two_sweeps_differ() -> None:
    assert not sweeps.run(work.draw, GRID, repeats=1).equals(sweeps.run(work.draw, GRID, repeats=1))


def test_a_finished_file_is_read_and_not_run_again(tmp_path: Path) -> None:
    file = tmp_path / "sweep.jsonl"
    first = sweeps.run(work.draw, GRID, repeats=2, file=file)
    size = file.stat().st_size
    assert_frame_equal(first, sweeps.run(work.draw, GRID, repeats=2, file=file))
    assert file.stat().st_size == size
    longer = sweeps.run(work.draw, GRID, repeats=3, file=file)
    assert_frame_equal(first, longer.filter(polars.col("repeat") < 2))


@pytest.mark.parametrize("cut", [1, 10, 60, 200, 300, 5000])
def test_a_file_cut_anywhere_gives_the_same_rows(tmp_path: Path, cut: int) -> None:
    file = tmp_path / "sweep.jsonl"
    whole = sweeps.run(work.draw, GRID, repeats=2, rng=seeded(), file=file)
    complete = file.read_bytes()
    file.write_bytes(complete[: max(len(complete) - cut, 7)])
    assert_frame_equal(whole, sweeps.run(work.draw, GRID, repeats=2, rng=seeded(), file=file))
    assert sorted(file.read_bytes().splitlines()) == sorted(complete.splitlines())


@pytest.mark.parametrize("workers", [1, 2])
def test_a_killed_sweep_resumes_to_the_same_rows(tmp_path: Path, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
    file, grave = tmp_path / "sweep.jsonl", tmp_path / "grave"
    grave.touch()
    script = (
        "import numpy as np\nfrom bruit import sweeps\nfrom sweeps import work\n"
        "if __name__ == '__main__':\n"
        "    sweeps.run(work.draw_and_die, {'scale': [1, 2, 3, 4]}, repeats=2, rng=np.random.default_rng(5),"
        f" workers={workers}, file={str(file)!r})\n"
    )
    (tmp_path / "script.py").write_text(script)
    paths = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "BRUIT_TEST_DIES": str(grave), "PYTHONPATH": paths}
    died = subprocess.run([sys.executable, tmp_path / "script.py"], env=environment, capture_output=True, text=True)
    assert died.returncode != 0
    if workers == 1:
        assert len(file.read_bytes().splitlines()) == 5, "the terms and four repeats were kept"
    else:
        assert "a worker process could not start or died" in died.stderr
    grave.unlink()
    monkeypatch.setenv("BRUIT_TEST_DIES", str(grave))
    grid = {"scale": [1, 2, 3, 4]}
    resumed = sweeps.run(work.draw_and_die, grid, repeats=2, rng=seeded(), workers=workers, file=file)
    assert_frame_equal(resumed, sweeps.run(work.draw_and_die, grid, repeats=2, rng=seeded()))


def test_a_file_of_another_sweep_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sweep.jsonl"
    sweeps.run(work.draw, GRID, repeats=1, rng=seeded(), file=file)
    before = file.read_bytes()
    with pytest.raises(BadFile, match="another grid"):
        sweeps.run(work.draw, {"scale": [1]}, repeats=1, file=file)
    with pytest.raises(BadFile, match="another function"):
        sweeps.run(work.fail_at_two, GRID, repeats=1, file=file)
    with pytest.raises(InvalidArgument, match="another stream"):
        sweeps.run(work.draw, GRID, repeats=1, rng=np.random.default_rng(6), file=file)
    assert file.read_bytes() == before


@pytest.mark.parametrize("content", [b"precious", b"precious\n", b'{"a": 1}\n'])
def test_a_file_that_is_no_sweep_is_refused_and_left_alone(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "precious.txt"
    file.write_bytes(content)
    with pytest.raises(BadFile, match="not the file of a sweep"):
        sweeps.run(work.draw, GRID, repeats=1, file=file)
    assert file.read_bytes() == content


def test_a_file_damaged_in_the_middle_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sweep.jsonl"
    sweeps.run(work.draw, GRID, repeats=1, file=file)
    lines = file.read_bytes().splitlines(keepends=True)
    file.write_bytes(lines[0] + b"nonsense\n" + b"".join(lines[2:]))
    with pytest.raises(BadFile, match="damaged"):
        sweeps.run(work.draw, GRID, repeats=1, file=file)


def test_a_file_in_use_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("fcntl")
    file = tmp_path / "sweep.jsonl"

    def nested(*, rng: np.random.Generator, scale: float) -> dict[str, float]:
        sweeps.run(work.draw, GRID, repeats=1, file=file)
        return {"value": scale}

    with pytest.raises(BadFile, match="another sweep"):
        sweeps.run(nested, {"scale": [1]}, repeats=1, file=file)


def test_progress_counts_up_to_all_and_begins_with_what_is_done(tmp_path: Path) -> None:
    heard: list[tuple[int, int]] = []
    for repeats in (1, 2):
        sweeps.run(
            work.draw,
            GRID,
            repeats=repeats,
            file=tmp_path / "s",
            on_progress=lambda done, total: heard.append((done, total)),
        )
    assert heard == [(done, 6) for done in range(7)] + [(done, 12) for done in range(6, 13)]


@pytest.mark.parametrize(("workers", "kind"), [(1, MissingExtra), (2, BruitError)])
def test_an_exception_carries_the_point(workers: int, kind: type[Exception]) -> None:
    with pytest.raises(kind, match=r"pip install 'bruit\[nothing\]'") as caught:
        sweeps.run(work.fail_at_two, {"scale": [1, 2, 3]}, repeats=2, workers=workers)
    assert "in the sweep at scale=2, repeat 0" in "\n".join(
        [str(caught.value), *getattr(caught.value, "__notes__", [])]
    )


def test_the_error_that_comes_out_does_not_depend_on_who_is_faster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BRUIT_TEST_MARKS", str(tmp_path))
    with pytest.raises(ValueError, match="too slow"):
        sweeps.run(work.fail_late_at_first, {"scale": [1, 2, 3]}, repeats=1, workers=2)
    assert list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("grid", "repeats", "workers"),
    [
        ({}, 0, 1),
        ([], 1, 1),
        ({"scale": []}, 1, 1),
        ({"scale": [1, 1]}, 1, 1),
        ({"scale": "text"}, 1, 1),
        ({"rng": [1]}, 1, 1),
        ({"repeat": [1]}, 1, 1),
        ({"scale": [[1]]}, 1, 1),
        ([{"scale": 1}, {"kind": "a"}], 1, 1),
        ({"scale": [1]}, 0, 1),
        ({"scale": [1]}, 1, 0),
        ({"length": [1]}, 1, 1),
    ],
)
def test_what_is_no_sweep_is_refused(grid: object, repeats: int, workers: int) -> None:
    function = (lambda rng, length: {"length": length}) if grid == {"length": [1]} else work.draw
    with pytest.raises(InvalidArgument):
        sweeps.run(function, grid, repeats=repeats, workers=workers)  # type: ignore[arg-type]


def test_a_function_that_cannot_travel_is_refused_before_any_work() -> None:
    with pytest.raises(InvalidArgument, match="cannot be sent"):
        sweeps.run(lambda rng, scale: {"value": scale}, {"scale": [1]}, repeats=2, workers=2)
