"""The study of private deciles: it runs, repeats, and its figures are those of its own repeats."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import polars
from click.testing import CliRunner

from bruit.apps.cli import main
from bruit.apps.studies import deciles


def test_the_study_writes_its_tables_and_figures(tmp_path: Path) -> None:
    asked = ["study", "deciles", "--small", "--seed", "3", "--json", "--folder"]
    done = CliRunner().invoke(main, [*asked, str(tmp_path)])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)["deciles"]
    written = {Path(path).name: Path(path) for path in found["files"]}
    assert {"deciles.csv", "repeats.csv", "bounds.csv", "cut.png", "uniform_law_against_rows.png"} <= written.keys()
    assert all(path.read_bytes().startswith(b"\x89PNG") for name, path in written.items() if name.endswith("png"))
    table, rows = polars.read_csv(written["deciles.csv"]), polars.read_csv(written["repeats.csv"])
    assert len(table) == 2 * len(deciles.METHODS) * 2 * 2
    point: dict[str, Any] = {"law": "normal", "method": "joint", "rows": 3000, "epsilon": 5.0}
    same = [polars.col(name) == value for name, value in point.items()]
    np.testing.assert_allclose(table.filter(*same)["sample_mae"], [rows.filter(*same)["sample_mae"].mean()])
    assert found["figures"]["joint_mae"] < found["figures"]["histogram_mae"]


def test_a_point_repeats_with_its_stream() -> None:
    point: dict[str, Any] = {"law": "uniform", "method": "joint", "rows": 200, "epsilon": 1.0}
    first, second = (deciles.ask_once(rng=np.random.default_rng(4), **point) for _ in range(2))
    assert first == second
    assert first["law_rms"] >= first["law_mae"] > 0


def test_bounds_stand_beside_only_where_they_promise_something() -> None:
    assert deciles.expected_bound("uniform", "histogram", 100_000, 1.0) > 0.03
    assert deciles.expected_bound("uniform", "histogram", 100, 1.0) is None
    assert deciles.expected_bound("normal", "histogram", 100_000, 1.0) is None
    table = deciles.bounds([100, 1_000_000], [1.0])
    assert set(table.filter(polars.col("rows") == 100)["chance_at_most"]) == {1.0}
    assert (table.filter(polars.col("vacuous_because") == "")["chance_at_most"] < 1).all()
