"""Summaries of repeats."""

import polars
import pytest
from scipy import stats

from bruit import sweeps
from bruit.errors import InvalidArgument

FRAME = polars.DataFrame(
    {
        "epsilon": [1.0] * 4 + [2.0] * 4,
        "name": ["a"] * 8,
        "repeat": [0, 1, 2, 3] * 2,
        "error": [1.0, 2.0, 3.0, 4.0, 5.0, 5.0, 5.0, 5.0],
    }
)


def test_mean_deviation_and_interval_agree_with_scipy() -> None:
    row = sweeps.summary(FRAME, ["epsilon"], confidence=0.9).row(0, named=True)
    sample = [1.0, 2.0, 3.0, 4.0]
    expected = stats.ttest_1samp(sample, 0).confidence_interval(0.9)
    assert (row["epsilon"], row["quantity"], row["repeats"]) == (1.0, "error", 4)
    assert row["mean"] == 2.5
    assert row["deviation"] == pytest.approx(stats.tstd(sample), rel=1e-14)
    assert (row["low"], row["high"]) == pytest.approx((expected.low, expected.high), rel=1e-12)


def test_points_keep_their_order_and_equal_repeats_have_no_width() -> None:
    summary = sweeps.summary(FRAME, ["epsilon", "name"])
    assert summary["epsilon"].to_list() == [1.0, 2.0]
    assert summary.row(1, named=True)["low"] == summary.row(1, named=True)["high"] == 5.0


def test_one_repeat_has_a_mean_and_no_interval() -> None:
    row = sweeps.summary(FRAME.head(1), ["epsilon"]).row(0, named=True)
    assert (row["mean"], row["deviation"], row["low"]) == (1.0, None, None)


@pytest.mark.parametrize(("by", "confidence"), [(["nothing"], 0.9), ("epsilon", 0.9), (["epsilon"], 1.0)])
def test_what_is_no_summary_is_refused(by: list[str], confidence: float) -> None:
    with pytest.raises(InvalidArgument):
        sweeps.summary(FRAME, by, confidence=confidence)
