"""Reconstruction attacks on noisy counts: the threshold at √n, and what all 2^n queries reveal.

[docs/spec.md S2.3]
"""

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import polars

from bruit import sweeps
from bruit.anonymity import Method, reconstruct, simulate_reconstruction
from bruit.apps import plots
from bruit.apps.findings import Findings, Size

NOISE = (0.05, 0.125, 0.25, 0.35, 0.5, 0.71, 1.0, 1.41, 2.0, 4.0)
"""The largest error of an answer as a multiple of √n."""

ATTACKS: Mapping[Size, tuple[tuple[Method, int], ...]] = {
    "small": (("least squares", 64), ("linear programming", 24), ("hadamard", 2**12)),
    "full": (
        ("least squares", 64),
        ("least squares", 256),
        ("least squares", 1024),
        ("linear programming", 64),
        ("linear programming", 128),
        ("hadamard", 2**14),
        ("hadamard", 2**20),
    ),
}
REPEATS: Mapping[Size, int] = {"small": 3, "full": 10}
UNBOUNDED: Mapping[Size, int] = {"small": 8, "full": 12}
"""The bits of the attacker who asks every question; a curator may err by up to a quarter of them."""

CURATORS = ("errs at random", "leans to another table")
NEARLY_ALL = 0.95


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Runs the attacks; writes two tables and two figures."""
    folder.mkdir(parents=True, exist_ok=True)
    grid = [{"method": method, "n": n, "noise": noise} for method, n in ATTACKS[size] for noise in NOISE]
    rows = sweeps.run(
        attack_once, grid, repeats=REPEATS[size], rng=rng, file=folder / f"sweep_{size}.jsonl", on_progress=on_progress
    )
    people = UNBOUNDED[size]
    asked: dict[str, list[str] | list[int]] = {
        "curator": list(CURATORS),
        "people": [people],
        "error": list(range(people // 4 + 1)),
    }
    every = sweeps.run(ask_everything, asked, repeats=4 * REPEATS[size], rng=rng)
    tables = {
        "threshold": sweeps.summary(rows, by=["method", "n", "noise"], within=(0, 1)),
        "every_question": sweeps.summary(every, by=["curator", "people", "error"], within=(0, people)),
    }
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.csv")
    figures = headline(tables)
    files = (*(folder / f"{name}.csv" for name in tables), *plot_findings(folder, tables))
    return Findings(summarise(figures), files, figures)


def attack_once(*, rng: np.random.Generator, method: Method, n: int, noise: float) -> Mapping[str, float]:
    """The share of n random bits that one attack recovers from answers with error at most noise·√n."""
    return {"recovered": simulate_reconstruction(n, noise * n**0.5, method=method, rng=rng).recovered}


def ask_everything(*, rng: np.random.Generator, curator: str, people: int, error: int) -> Mapping[str, float]:
    """All 2^n subset sums answered within `error`: how many bits the best candidate gets wrong.

    Errors at random average out. A curator who leans answers half-way between the secret and another table with 2E
    ones and 2E zeros exchanged: every sum is then off by at most E, and nobody can tell the two tables apart.
    """
    secret = rng.permutation(people) % 2
    every = np.arange(2**people)[:, None] >> np.arange(people) & 1
    answers = every @ secret + rng.integers(-error, error + 1, len(every))
    if curator == CURATORS[1]:
        other = secret.copy()
        for value in (0, 1):
            other[rng.permutation(np.flatnonzero(secret == value))[: 2 * error]] ^= 1
        answers = (every @ (secret + other)) // 2
    return {"wrong": float((reconstruct(every, answers).bits != secret).sum())}


def plot_findings(folder: Path, tables: Mapping[str, polars.DataFrame]) -> tuple[Path, ...]:
    """Saves the two figures, where matplotlib is installed."""
    if not plots.available():
        return ()
    series = []
    for (method, n), part in tables["threshold"].group_by(["method", "n"], maintain_order=True):
        series.append(
            plots.Series(
                f"{str(method).capitalize()}, n = {plots.write_number(int(str(n)))}",
                part["noise"],
                part["mean"],
                part["low"],
                part["high"],
            )
        )
    series.append(plots.Series("guessing", [NOISE[0], NOISE[-1]], [0.5, 0.5], dashed=True))
    title = "Noise well below √n gives nearly every bit back"
    x, y = "largest error of an answer / √n", "share of bits recovered"
    first = plots.curves(folder / "threshold.png", series, title=title, x=x, y=y, x_scale="log")
    return first, _plot_every_question(folder, tables["every_question"])


def _plot_every_question(folder: Path, table: polars.DataFrame) -> Path:
    """The bits that stay hidden against the largest error of an answer, beside Dinur's and Nissim's bound."""
    errors, people = table["error"].unique().sort(), table["people"][0]
    series = []
    for (curator,), part in table.group_by(["curator"], maintain_order=True):
        series.append(plots.Series(f"a curator who {curator}", part["error"], part["mean"], part["low"], part["high"]))
    series += [
        plots.Series("at most 4E (theorem)", errors, 4 * errors, dashed=True),
        plots.Series("guessing", errors, [people / 2] * len(errors), dashed=True),
    ]
    title = f"Every question about {people} people, answered within E"
    x, y = "largest error of an answer, E", f"bits wrong, of {people}"
    return plots.curves(folder / "every_question.png", series, title=title, x=x, y=y)


def headline(tables: Mapping[str, polars.DataFrame]) -> dict[str, float]:
    """The shares recovered around the threshold, and the largest noise at which nearly all bits are recovered."""
    table = tables["threshold"]
    largest = table.filter(polars.col("n") == table["n"].max())
    share = dict(zip(largest["noise"], largest["mean"], strict=True))
    known = largest.filter(polars.col("mean") >= NEARLY_ALL)
    return {
        "n": float(largest["n"][0]),
        "recovered_at_a_quarter_root": share[0.25],
        "recovered_at_root": share[1.0],
        "recovered_at_four_roots": share[4.0],
        "people_asked_everything_about": float(tables["every_question"]["people"][0]),
        **{f"bits_wrong, {curator}": wrong for curator, wrong in _wrong(tables["every_question"]).items()},
        "largest_noise_with_95_percent": float(known["noise"].max() or 0.0),  # type: ignore[arg-type]
    }


def _wrong(table: polars.DataFrame) -> dict[str, float]:
    """How many bits the attacker who asks everything gets wrong at the largest error."""
    most = table.filter(polars.col("error") == polars.col("error").max())
    return dict(most.select("curator", "mean").iter_rows())


def summarise(figures: Mapping[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    random, leaning = (figures[f"bits_wrong, {curator}"] for curator in CURATORS)
    people = int(figures["people_asked_everything_about"])
    return (
        f"Of {figures['n']:.0f} secret bits an attacker who asks as many random counts recovers "
        f"{figures['recovered_at_a_quarter_root']:.1%} when answers are off by at most √n/4, "
        f"{figures['recovered_at_root']:.1%} at √n and {figures['recovered_at_four_roots']:.1%} at 4√n, where guessing "
        f"gives 50 %. Noise must grow as √n once as many questions are answered as there are people, and linearly "
        f"where every question is: of {people} bits and answers within {people // 4}, {_mean_number(random)} stay "
        f"hidden when errors are drawn at random, and {_mean_number(leaning)} when the curator leans to another table, "
        f"where guessing leaves {people // 2}. No fixed noise protects an open-ended service, which is why a ledger "
        "stops."
    )


def _mean_number(mean: float) -> str:
    return "none" if mean == 0 else f"{mean:.1f}"
