import json
from typing import Any

from click.testing import CliRunner

from bruit.apps.cli import main


def run(*arguments: Any) -> Any:
    return CliRunner().invoke(main, ["belief", *arguments])


def test_s2_5_the_whole_table() -> None:
    told = json.loads(run("--json").output)
    assert len(told["beliefs"]) == 88
    shown = run().output
    for part in ("50.25", "54.98", "73.11", "95.26"):
        assert part in shown


def test_one_entry_and_a_premium() -> None:
    shown = run("--prior", "0.5", "--epsilon", "0.01", "--premium", "2000").output
    assert "50.25" in shown
    assert "2020.10" in shown


def test_json_has_null_where_a_premium_is_beyond_every_float() -> None:
    told = run("--prior", "0.5", "--epsilon", "800", "--premium", "2000", "--json").output
    assert "Infinity" not in told
    assert json.loads(told)["premiums"] == [{"epsilon": 800.0, "at_most": None}]


def test_a_delta_is_refused() -> None:
    found = run("--delta", "1e-6")
    assert found.exit_code == 2
    assert "no bound holds for every answer" in found.output


def test_a_prior_that_is_none_is_refused() -> None:
    found = run("--prior", "50")
    assert found.exit_code == 2
    assert "from 0 to 1" in found.output
