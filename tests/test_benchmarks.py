"""The benchmark harness: fresh processes, medians, ratios that read the same way whichever way is up."""

import ast
import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks import __main__ as command
from benchmarks import environments, rounds
from benchmarks.case import Case, Peer, Work

AREA = "web"
FILE = """
from benchmarks.case import Case, Peer, Work

def ours() -> Work:
    return lambda: 2.0

def peer() -> Work:
    return lambda: 6.0

def broken() -> Work:
    raise RuntimeError("the peer does not run here")

CASES = [
    Case("error", "mm", "lower", ours, (Peer("slow", peer, times=2, here=True),), returned=True, goal=2.5, calls=2),
    Case("broken", "mm", "lower", ours, (Peer("gone", broken, here=True),), returned=True, calls=1),
    Case("alone", "calls/s", "higher", ours, calls=3),
    Case("minutes", "mm", "lower", ours, (Peer("rare", peer, here=True, rounds=1),), returned=True, calls=1),
]
"""


def nothing() -> Work:
    return lambda: None


def case(**changes: Any) -> Case:
    return Case(**{"name": "case", "unit": "s", "better": "lower", "ours": nothing, **changes})


@pytest.fixture
def area(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An area of its own, beside a copy of the harness."""
    (tmp_path / "benchmarks").mkdir()
    for file in Path(rounds.__file__).parent.glob("*.py"):
        (tmp_path / "benchmarks" / file.name).write_text(file.read_text())
    (tmp_path / "benchmarks" / f"{AREA}.py").write_text(FILE)
    monkeypatch.setattr(rounds, "ROOT", tmp_path)
    space: dict[str, Any] = {}
    exec(FILE, space)
    monkeypatch.setattr(command, "cases_of", lambda _: space["CASES"])
    return AREA


def test_rows_hold_medians_ratio_and_verdict(area: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([area, "--json", "--rounds", "2", "--case", "error"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert (row["ours"], row["peer"], row["ratio"], row["peer_name"]) == (2.0, 6.0, 3.0, "slow")
    assert row["goal"] == "ours ≤ 2.5 mm and ratio ≥ 2"
    assert row["met"] is True


def test_a_peer_that_does_not_run_is_said(area: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([area, "--json", "--rounds", "1", "--case", "broken"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["peer"] is None
    assert "does not run here" in row["trouble"]


def test_a_case_without_peers_is_one_row(area: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([area, "--json", "--rounds", "1", "--case", "alone"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["ours"] > 0
    assert (row["peer"], row["peer_name"], row["ratio"], row["met"]) == (None, None, None, None)


def test_a_peer_that_takes_minutes_runs_in_its_own_number_of_rounds(
    area: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main([area, "--json", "--rounds", "2", "--case", "minutes"]) == 0
    told = capsys.readouterr()
    (row,) = json.loads(told.out)
    assert (row["ours"], row["peer"], row["ratio"]) == (2.0, 6.0, 3.0)
    assert (told.err.count(", ours\n"), told.err.count(", rare\n")) == (2, 1)


def test_an_area_without_cases_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(command, "cases_of", lambda _: None)
    assert command.main(["deep"]) == 0
    assert "deep: no cases are written yet" in capsys.readouterr().err


@pytest.mark.parametrize("area", [area for area in command.AREAS if importlib.util.find_spec(f"benchmarks.{area}")])
def test_every_area_reads_and_lists_its_peers(area: str) -> None:
    cases = command.cases_of(area)
    assert cases
    assert len({case.name for case in cases}) == len(cases)
    wants_peers = any(not peer.here for case in cases for peer in case.peers)
    assert not wants_peers or environments.requirements(area).exists()


@pytest.mark.parametrize(("better", "ratio"), [("lower", 2.0), ("higher", 0.5)])
def test_a_ratio_above_one_means_that_ours_is_better(better: str, ratio: float) -> None:
    assert case(better=better).ratio(ours=1.0, peer=2.0) == ratio


def test_which_way_is_up_must_be_said() -> None:
    with pytest.raises(ValueError, match="'higher' or 'lower'"):
        case(better="faster")


def test_a_unit_other_than_seconds_counts_the_amount() -> None:
    assert case(unit="values/s", better="higher", amount=100).figure(0.5) == 200
    assert case(unit="s").figure(0.5) == 0.5


def test_the_peers_environment_is_made_again_only_when_the_list_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = tmp_path / "requirements.txt"
    wanted.write_text("peer==1\n")
    commands: list[list[str]] = []

    def pretend(order: list[str]) -> None:
        commands.append(order)
        (tmp_path / AREA).mkdir(exist_ok=True)

    monkeypatch.setattr(environments, "requirements", lambda _: wanted)
    monkeypatch.setattr(environments, "_run", pretend)
    environments.python_of_peers(AREA, folder=tmp_path)
    environments.python_of_peers(AREA, folder=tmp_path)
    assert len(commands) == 2  # the environment and its packages, once
    wanted.write_text("peer==2\n")
    environments.python_of_peers(AREA, folder=tmp_path)
    assert len(commands) == 4


def test_a_missing_list_of_peers_is_said() -> None:
    with pytest.raises(environments.NoPeers, match=r"requirements/nowhere\.txt does not exist"):
        environments.python_of_peers("nowhere")


def test_the_networks_of_the_studies_need_torch_alone() -> None:
    from benchmarks.deep.models import FILE

    imports = [node for node in ast.parse(FILE.read_text()).body if isinstance(node, ast.Import | ast.ImportFrom)]
    names = {alias.name for node in imports if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in imports if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} == {"__future__", "torch"}


def test_a_goal_that_could_not_be_measured_is_not_called_met() -> None:
    peer = Peer("peer", nothing, times=2.0)
    assert rounds._met(case(peers=(peer,)), peer, 1.0, None) is None
    assert rounds._met(case(peers=(peer,), goal=0.5), peer, 1.0, None) is False
