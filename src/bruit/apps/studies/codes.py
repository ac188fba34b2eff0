"""Codes over the channels of the lecture, and over randomised response: capacity, composition, media, error curves."""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars
from scipy import stats

from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.channels import symmetric
from bruit.codes import (
    Code,
    Convolutional,
    Hamming,
    LteTurbo,
    ReedSolomon,
    Repetition,
    finite_length_limit,
    nr,
    shannon_limit,
    simulate,
)

CATEGORIES = (2, 4, 16, 64)
EPSILONS = tuple(round(0.25 * step, 2) for step in range(1, 33))
ANSWER = 1.0
"""The ε of one answer in the composition attack."""

SENDS = (1, 3, 5, 9, 15, 25, 41)
MEDIA = {"optical disc": 1e-5, "telephone line": 1e-6, "fibre": 1e-9}
"""Bit error ratios of the lecture.                                                          [docs/spec.md S1.4]"""

EFFORT = {"small": (20, 640), "full": (300, 200_000)}
"""Wrong words to wait for, and the most words to send, at each level."""

CODES: Mapping[str, tuple[Callable[[], Code], tuple[float, ...]]] = {
    "repetition 3 (as no code)": (lambda: Repetition(3, k=100), (0, 2, 4, 6, 8)),
    "Hamming (15, 11)": (lambda: Hamming(4), (0, 2, 4, 6, 7)),
    "Reed–Solomon (255, 223)": (lambda: ReedSolomon(255, 223), (4, 5, 5.5, 6)),
    "convolutional K = 7": (lambda: Convolutional((0o171, 0o133), 1000), (0, 1, 2, 3, 4)),
    "LTE turbo K = 1024": (lambda: LteTurbo(1024), (0, 0.4, 0.8, 1.0)),
    "5G LDPC (1944, 972)": (lambda: nr(972, 1944), (0.6, 1.0, 1.3, 1.6)),
}
"""The codes of the lecture with the levels (Eb/N0 in dB) at which they begin to work."""

LIMITS = (0.5, 1e-1, 1e-2, 1e-3)


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Runs the study; writes four tables and four figures."""
    folder.mkdir(parents=True, exist_ok=True)
    steps = len(CODES) + 1
    tell = on_progress or (lambda _done, _total: None)
    tables = {"capacity": capacities(), "media": media()}
    tables["composition"] = composition(size, rng)
    tell(1, steps)
    measured = []
    for number, name in enumerate(CODES):
        measured.append(measure(name, size, rng))
        tell(2 + number, steps)
    tables["curves"] = polars.concat(measured)
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.csv")
    files = (*(folder / f"{name}.csv" for name in tables), *plot_findings(folder, tables))
    figures = headline(tables)
    return Findings(summarise(figures), files, figures)


def capacities() -> polars.DataFrame:
    """The bits that one answer through randomised response can carry, by ε and number of categories."""
    rows = [
        {"categories": k, "epsilon": epsilon, "bits": symmetric(k, epsilon=epsilon).capacity()}
        for k in CATEGORIES
        for epsilon in EPSILONS
    ]
    return polars.DataFrame(rows)


def composition(size: Size, rng: np.random.Generator | None) -> polars.DataFrame:
    """One bit asked n times: the total ε, the error rate of the majority vote, and its binomial prediction."""
    rows = []
    for sends in SENDS:
        words = 20_000 if size == "small" else 1_000_000
        seen = simulate(Repetition(sends), "randomised response", [ANSWER], word_errors=words, words=words, rng=rng)
        theory = float(stats.binom.sf(sends // 2, sends, 1 / (1 + np.exp(ANSWER))))
        rate, low, high = (float(seen[name][0]) for name in ("word_error_rate", "low", "high"))
        rows.append(
            {"sends": sends, "epsilon": sends * ANSWER, "wrong": rate, "low": low, "high": high, "theory": theory}
        )
    return polars.DataFrame(rows)


def media() -> polars.DataFrame:
    """The bit error rate of each medium without a code and with three codes of the lecture, in closed form."""
    rows = []
    for name, wrong in MEDIA.items():
        block = float(stats.binom.sf(1, 7, wrong))
        symbol = -np.expm1(8 * np.log1p(-wrong))
        rows.append(
            {
                "medium": name,
                "bit_error_ratio": wrong,
                "wrong_bits_per_gigabyte": 8e9 * wrong,
                "after_repetition_3": float(stats.binom.sf(1, 3, wrong)),
                "blocks_lost_by_hamming_7_4": block,
                "blocks_lost_by_reed_solomon_255_223": float(stats.binom.sf(16, 255, symbol)),
            }
        )
    return polars.DataFrame(rows)


def measure(name: str, size: Size, rng: np.random.Generator | None) -> polars.DataFrame:
    """The simulated error curve of one code over Gaussian noise."""
    make, levels = CODES[name]
    word_errors, words = EFFORT[size]
    code = make()
    seen = simulate(code, "gaussian", levels, word_errors=word_errors, words=words, rng=rng)
    described = {"code": name, "n": code.n, "k": code.k}
    return seen.select(*(polars.lit(value).alias(key) for key, value in described.items()), polars.all())


def plot_findings(folder: Path, tables: Mapping[str, polars.DataFrame]) -> tuple[Path, ...]:
    """Saves the four figures: capacity, composition, media and error curves."""
    return (
        _capacity_figure(folder / "capacity.png", tables["capacity"]),
        _composition_figure(folder / "composition.png", tables["composition"]),
        _curves_figure(folder / "curves.png", tables["curves"]),
        _limits_figure(folder / "limits.png", tables["curves"]),
    )


def _capacity_figure(path: Path, table: polars.DataFrame) -> Path:
    series = []
    for k in CATEGORIES:
        part = table.filter(polars.col("categories") == k)
        series.append(plots.Series(f"{k} categories", part["epsilon"], part["bits"]))
    return plots.curves(
        path, series, title="What one private answer can carry", x="ε of one answer", y="capacity, bits"
    )


def _composition_figure(path: Path, table: polars.DataFrame) -> Path:
    seen = plots.Series("majority of n answers", table["epsilon"], table["wrong"], table["low"], table["high"])
    theory = plots.Series("binomial law", table["epsilon"], table["theory"], dashed=True)
    title = f"A repetition code is the composition attack (ε = {ANSWER:g} an answer)"
    return plots.curves(
        path, [seen, theory], title=title, x="ε of all answers, n·ε", y="chance of a wrong guess", y_scale="log"
    )


def _curves_figure(path: Path, table: polars.DataFrame) -> Path:
    series = []
    for name in CODES:
        part = table.filter((polars.col("code") == name) & (polars.col("bit_errors") > 0))
        series.append(plots.Series(name, part["level"], part["bit_error_rate"]))
    limit = shannon_limit(1 / 2)
    series.append(plots.Series("Shannon limit, rate 1/2", [limit, limit], [1e-6, 0.3], dashed=True))
    title = "The codes of the lecture over Gaussian noise"
    return plots.curves(path, series, title=title, x="Eb/N0, dB", y="bit error ratio", y_scale="log")


def _limits_figure(path: Path, table: polars.DataFrame) -> Path:
    series = []
    for name in ("LTE turbo K = 1024", "5G LDPC (1944, 972)"):
        part = table.filter((polars.col("code") == name) & (polars.col("word_errors") > 0))
        series.append(plots.Series(name, part["level"], part["word_error_rate"], part["low"], part["high"]))
        n, k = part["n"][0], part["k"][0]
        best = [finite_length_limit(n, k, word_errors=rate) for rate in LIMITS]
        series.append(plots.Series(f"best ({n}, {k}), nearly", best, LIMITS, dashed=True))
    title = "How near to the best code of the same length"
    return plots.curves(path, series, title=title, x="Eb/N0, dB", y="word error rate", y_scale="log")


def headline(tables: Mapping[str, polars.DataFrame]) -> dict[str, float]:
    """The headline numbers by name, as the summary quotes them."""
    binary = tables["capacity"].filter((polars.col("categories") == 2) & (polars.col("epsilon") == 1.0))
    first, last = tables["composition"].row(0, named=True), tables["composition"].row(-1, named=True)
    return {
        "bits_of_one_answer_at_epsilon_1": float(binary["bits"][0]),
        "wrong_after_one_answer": first["wrong"],
        "wrong_after_all_answers": last["wrong"],
        "epsilon_of_all_answers": last["epsilon"],
        "shannon_limit_rate_half_db": shannon_limit(1 / 2),
        "best_1944_972_at_1e-3_db": finite_length_limit(1944, 972, word_errors=1e-3),
    }


def summarise(figures: Mapping[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    return (
        f"One yes-or-no answer at ε = 1 carries {figures['bits_of_one_answer_at_epsilon_1']:.3f} bits. Guessed from "
        f"one answer the truth is missed {figures['wrong_after_one_answer']:.1%} of the time; from {SENDS[-1]} answers "
        f"of the same person only {figures['wrong_after_all_answers']:.2%}, at a total ε of "
        f"{figures['epsilon_of_all_answers']:g}: a repetition code is the composition attack. Over Gaussian noise no "
        f"code of rate 1/2 works below {figures['shannon_limit_rate_half_db']:.3f} dB, and the best one of 1944 bits "
        f"loses one word in a thousand at about {figures['best_1944_972_at_1e-3_db']:.2f} dB."
    )
