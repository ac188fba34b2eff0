"""Error rates beside the curves of a reference simulator: at each level, those of the curve 0.1 dB to either side."""

import csv
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from laws import ALARM, binomial_window
from numpy.typing import NDArray

from bruit.codes import Code, Convolutional, Hamming, LteTurbo, ReedSolomon, nr, nr_polar, simulate, wifi, wimax

TOLERANCE = 0.1  # dB
CURVES = Path(os.environ.get("BRUIT_DATA", "data")) / "ber"
pytestmark = pytest.mark.skipif(not CURVES.is_dir(), reason="the reference curves are not on this machine")


def recursive() -> Any:
    return Convolutional((0o33,), 1024, feedback=0o23, decoder="max-log")


# name of the curve, code, levels, words sent in the gate and under stress
CASES = {
    "bch_15_11": (lambda: Hamming(4), {3.4: (20_000, 200_000), 5.6: (60_000, 1_000_000), 7.0: (0, 3_000_000)}),
    "rs_15_11": (lambda: ReedSolomon(15, 11), {4.6: (20_000, 200_000), 6.0: (60_000, 600_000), 7.0: (0, 2_000_000)}),
    "rs_255_223": (lambda: ReedSolomon(255, 223), {5.6: (2_000, 20_000), 6.0: (0, 50_000), 6.2: (0, 300_000)}),
    "rsc_2056_1024_bcjr": (recursive, {3.75: (1_500, 15_000), 4.5: (0, 30_000), 5.0: (0, 100_000)}),
    "ldpc_wifi_648_540_spa_i20": (
        lambda: wifi(648, "5/6", decoder="layered sum-product"),
        {3.5: (2_000, 20_000), 3.75: (3_000, 30_000), 4.25: (0, 200_000)},
    ),
    "ldpc_wimax_576_288_spa_i100": (
        lambda: wimax(576, "1/2", decoder="sum-product", iterations=100),
        {1.5: (600, 10_000), 2.0: (0, 30_000), 2.5: (0, 200_000)},
    ),
    "turbo_lte_18432_6144_i6": (
        lambda: LteTurbo(6144, flushed=False),
        {0.5: (512, 4_000), 0.6: (0, 10_000), 0.7: (0, 30_000)},
    ),
}


def curve(name: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    with (CURVES / f"{name}_awgn.csv").open() as file:
        rows = list(csv.DictReader(file))
    return np.array([float(row["ebn0_db"]) for row in rows]), np.log([float(row["fer"]) for row in rows])


def assert_near_the_curve(name: str, code: Code, level: float, words: int) -> None:
    levels, logs = curve(name)
    most, least = (float(np.exp(np.interp(level + shift, levels, logs))) for shift in (-TOLERANCE, TOLERANCE))
    frame = simulate(code, "gaussian", [level], word_errors=words, words=words, rng=np.random.default_rng(1))
    low, high = binomial_window(words, least, ALARM)[0], binomial_window(words, most, ALARM)[1]
    assert low <= frame["word_errors"][0] <= high


GATE = [(name, level) for name, (_, levels) in CASES.items() for level, (words, _) in levels.items() if words]
FULL = [(name, level) for name, (_, levels) in CASES.items() for level in levels]


@pytest.mark.parametrize(("name", "level"), GATE)
def test_error_rates_are_those_of_the_reference(name: str, level: float) -> None:
    code, levels = CASES[name]
    assert_near_the_curve(name, code(), level, levels[level][0])  # type: ignore[no-untyped-call]


@pytest.mark.stress
@pytest.mark.parametrize(("name", "level"), FULL)
def test_error_rates_are_those_of_the_reference_at_full_size(name: Any, level: Any) -> None:
    code, levels = CASES[name]
    assert_near_the_curve(name, code(), level, levels[level][1])  # type: ignore[no-untyped-call]


def test_min_sum_stays_within_a_tenth_of_a_decibel_of_sum_product() -> None:
    assert_near_the_curve("ldpc_wifi_648_540_spa_i20", wifi(648, "5/6"), 3.75, 4_000)


VECTORS = Path(__file__).parent / "vectors"
SIONNA, SIONNA_POLAR = (json.loads((VECTORS / f"sionna_{name}.json").read_text()) for name in ("rates", "polar_rates"))


@pytest.mark.parametrize("point", [*SIONNA, *SIONNA_POLAR], ids=lambda point: f"{point['k']} {point['n']}")
def test_new_radio_errs_as_often_as_sionna(point: dict[str, Any]) -> None:
    """Both counts are binomial with one rate: the difference stays within six deviations (alarm 2e-9)."""
    k, n = point["k"], point["n"]
    code = nr_polar(k, n, link=point["link"]) if "link" in point else nr(k, n, decoder="sum-product")
    words, rng = point["words"], np.random.default_rng(2)
    frame = simulate(code, "gaussian", [point["level"]], word_errors=words, words=words, rng=rng)
    ours, theirs = frame["word_errors"][0], point["wrong"]
    rate = (ours + theirs) / (2 * words)
    assert abs(ours - theirs) <= 6 * np.sqrt(2 * words * rate * (1 - rate))
