"""Every planted classic is caught, and the same mechanism done right is not."""

import json
from pathlib import Path

import numpy as np
import pytest

from bruit.apps.faults import planted
from bruit.apps.faults.fault import Fault
from bruit.apps.studies import load

FAULTS = list(planted.faults())
LISTED = {
    "halved noise",
    "wrong sensitivity",
    "sparse vector without question noise",
    "sparse vector that never stops",
    "sparse vector not scaled by its yeses",
    "sparse vector that prints its answer",
    "noise not refreshed",
    "floating-point Laplace",
    "copied streams",
    "clip after averaging",
    "charge after release",
    "bounds from data",
    "error that depends on a record",
    "missing per-person bounding",
    "RAPPOR that never flips a one",
    "noise only on observed classes",
    "a mean kept in a closure",
    "sums in a frozen weight",
    "the text of a batch",
    "the storage of a batch",
    "a mixing hook after the proof",
    "another axis in large batches",
    "the number of samples as a constant",
    "a rare turn",
    "a loss that remembers",
    "a rule for batches of its own",
    "scores with running draws",
}


def test_there_are_at_least_fifty_two_with_names_of_their_own() -> None:
    names = [fault.name for fault in FAULTS]
    assert len(names) == len(set(names)) >= 52
    assert set(names) >= LISTED


def test_every_kind_of_test_catches_something() -> None:
    assert {fault.test for fault in FAULTS} == {"audit", "low bits", "row-level pair", "ledger", "promise"}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)
def test_a_planted_fault_is_caught_and_its_mending_is_not(fault: Fault) -> None:
    rng = np.random.default_rng(20)
    row = planted.try_faults([fault], size="small", alarm=planted.ALARM / len(FAULTS), rng=rng)[0]
    assert row.caught, f"{fault.test} with {row.samples} samples"
    assert row.right_passes


def test_a_row_tells_the_test_and_the_samples_it_took() -> None:
    seen = []
    in_books = [fault for fault in FAULTS if fault.test == "ledger"][:2]
    rows = planted.try_faults(in_books, size="small", on_progress=lambda done, total: seen.append((done, total)))
    told = json.loads(json.dumps(rows[0].to_json()))
    assert told["test"] == "ledger"
    assert told["samples"] == 1
    assert told["caught"]
    assert seen == [(1, 2), (2, 2)]


def test_the_study_counts_what_was_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(planted, "faults", lambda: iter([fault for fault in FAULTS if fault.test == "ledger"][:4]))
    found = load("planted")(tmp_path, size="small", rng=np.random.default_rng(1))
    assert found.figures == {"faults": 4, "caught": 4, "right_ones_passed": 4}
    assert (tmp_path / "planted.csv").read_text().count("\n") == 5


@pytest.mark.stress
def test_all_are_caught_at_full_size() -> None:
    rows = planted.try_faults(size="full", rng=np.random.default_rng(21))
    assert [row.fault.name for row in rows if not (row.caught and row.right_passes)] == []


def test_the_page_lists_every_fault_with_its_test_and_samples() -> None:
    page = (Path(__file__).parents[3] / "docs" / "planted.md").read_text()
    assert f"holds {len(FAULTS)} classic faults" in page
    for fault in FAULTS:
        assert f"| {fault.name} | {fault.story} | {fault.test} | {fault.small} |" in page
