"""The study of codes at its small size."""

import numpy as np
import polars
import pytest
from laws import assert_law
from scipy import stats

from bruit.apps import plots
from bruit.apps.findings import Findings
from bruit.apps.studies import load


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> tuple[Findings, dict[str, polars.DataFrame]]:
    if not plots.available():
        pytest.skip("figures need matplotlib")
    told = []
    folder = tmp_path_factory.mktemp("codes")
    findings = load("codes")(
        folder, size="small", rng=np.random.default_rng(1), on_progress=lambda done, total: told.append((done, total))
    )
    assert told[-1][0] == told[-1][1]
    return findings, {path.stem: polars.read_csv(path) for path in findings.files if path.suffix == ".csv"}


def test_it_writes_its_tables_and_figures(found: tuple[Findings, dict[str, polars.DataFrame]]) -> None:
    findings, tables = found
    assert all(path.stat().st_size > 0 for path in findings.files)
    assert set(tables) == {"capacity", "media", "composition", "curves"}
    assert sum(path.suffix == ".png" for path in findings.files) == 4


def test_n_answers_cost_n_epsilon_and_err_by_the_binomial_law(
    found: tuple[Findings, dict[str, polars.DataFrame]],
) -> None:
    for row in found[1]["composition"].iter_rows(named=True):
        assert row["epsilon"] == row["sends"]
        wrong = stats.binom.sf(row["sends"] // 2, row["sends"], 1 / (1 + np.e))
        assert row["theory"] == pytest.approx(wrong)
        count = round(20_000 * row["wrong"])
        assert_law([20_000 - count, count], [1 - wrong, wrong])


def test_the_capacity_of_two_categories_is_that_of_the_symmetric_channel(
    found: tuple[Findings, dict[str, polars.DataFrame]],
) -> None:
    table = found[1]["capacity"].filter(polars.col("categories") == 2)
    p = 1 / (1 + np.exp(table["epsilon"].to_numpy()))
    np.testing.assert_allclose(table["bits"], 1 + p * np.log2(p) + (1 - p) * np.log2(1 - p), rtol=1e-9)


def test_the_media_of_the_lecture(found: tuple[Findings, dict[str, polars.DataFrame]]) -> None:
    table = found[1]["media"]
    assert dict(table.select("medium", "bit_error_ratio").iter_rows()) == {
        "optical disc": 1e-5,
        "telephone line": 1e-6,
        "fibre": 1e-9,
    }
    np.testing.assert_allclose(table["after_repetition_3"], 3 * table["bit_error_ratio"] ** 2, rtol=1e-4)
