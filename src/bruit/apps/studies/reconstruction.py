"""How many secret bits come back from noisy counts: the threshold at √n, and what all 2^n questions give.

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
UNBOUNDED = 10
"""The bits of the attacker who asks every question."""

ERRORS = (0, 1, 2, 3, 4)
NEARLY_ALL = 0.95


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Writes two tables and two figures."""
    folder.mkdir(parents=True, exist_ok=True)
    grid = [{"method": method, "n": n, "noise": noise} for method, n in ATTACKS[size] for noise in NOISE]
    rows = sweeps.run(
        attack_once, grid, repeats=REPEATS[size], rng=rng, file=folder / f"sweep_{size}.jsonl", on_progress=on_progress
    )
    every = sweeps.run(ask_everything, {"error": list(ERRORS)}, repeats=4 * REPEATS[size], rng=rng)
    tables = {
        "threshold": sweeps.summary(rows, by=["method", "n", "noise"], within=(0, 1)),
        "every_question": sweeps.summary(every, by=["error"]),
    }
    for name, table in tables.items():
        table.write_csv(folder / f"{name}.csv")
    figures = headline(tables)
    files = (*(folder / f"{name}.csv" for name in tables), *plot_findings(folder, tables))
    return Findings(summarise(figures), files, figures)


def attack_once(*, rng: np.random.Generator, method: Method, n: int, noise: float) -> Mapping[str, float]:
    """The share of n random bits that one attack recovers when answers are off by at most noise·√n."""
    return {"recovered": simulate_reconstruction(n, noise * n**0.5, method=method, rng=rng).recovered}


def ask_everything(*, rng: np.random.Generator, error: int) -> Mapping[str, float]:
    """All 2^n subset sums answered within `error`: how many bits the best candidate gets wrong."""
    secret = rng.integers(0, 2, UNBOUNDED)
    every = np.arange(2**UNBOUNDED)[:, None] >> np.arange(UNBOUNDED) & 1
    answers = every @ secret + rng.integers(-error, error + 1, len(every))
    return {"wrong": float((reconstruct(every, answers).bits != secret).sum())}


def plot_findings(folder: Path, tables: Mapping[str, polars.DataFrame]) -> tuple[Path, ...]:
    """Saves the two figures, where matplotlib is installed."""
    if not plots.available():
        return ()
    series = []
    for (method, n), part in tables["threshold"].group_by(["method", "n"], maintain_order=True):
        series.append(plots.Series(f"{method}, n = {n}", part["noise"], part["mean"], part["low"], part["high"]))
    series.append(plots.Series("guessing", [NOISE[0], NOISE[-1]], [0.5, 0.5], dashed=True))
    title = "Noise below √n gives nearly every bit back"
    x, y = "largest error of an answer / √n", "share of bits recovered"
    first = plots.curves(folder / "threshold.png", series, title=title, x=x, y=y, x_scale="log")
    table = tables["every_question"]
    bound = plots.Series("bound 4E", ERRORS, [4 * error for error in ERRORS], dashed=True)
    seen = plots.Series("best candidate", table["error"], table["mean"], table["low"], table["high"])
    title = f"Every question about {UNBOUNDED} people answered within E"
    return first, plots.curves(folder / "every_question.png", [seen, bound], title=title, x="E", y="bits wrong")


def headline(tables: Mapping[str, polars.DataFrame]) -> dict[str, float]:
    """Recovered shares around the threshold, and the largest noise at which nearly all comes back."""
    table = tables["threshold"]
    largest = table.filter(polars.col("n") == table["n"].max())
    share = dict(zip(largest["noise"], largest["mean"], strict=True))
    known = largest.filter(polars.col("mean") >= NEARLY_ALL)
    return {
        "n": float(largest["n"][0]),
        "recovered_at_a_quarter_root": share[0.25],
        "recovered_at_root": share[1.0],
        "recovered_at_four_roots": share[4.0],
        "largest_noise_with_95_percent": float(known["noise"].max() or 0.0),  # type: ignore[arg-type]
    }


def summarise(figures: Mapping[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    return (
        f"Of {figures['n']:.0f} secret bits an attacker who asks as many random counts recovers "
        f"{figures['recovered_at_a_quarter_root']:.1%} when answers are off by at most √n/4, "
        f"{figures['recovered_at_root']:.1%} at √n and {figures['recovered_at_four_roots']:.1%} at 4√n, where guessing "
        f"gives 50 %. Noise must grow as √n as soon as as many questions are answered as there are people, and "
        f"linearly where every question is: no fixed noise protects an open-ended service, which is why a ledger stops."
    )
