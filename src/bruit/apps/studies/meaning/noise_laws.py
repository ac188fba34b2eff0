"""The laws of noise: Laplace beside Gauss, two neighbouring tables, and which law costs less for many questions.

[docs/spec.md S1.9, S2.4, S2.8]
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars
from scipy import optimize

from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.channels import IntegerNoise
from bruit.core.losses import DiscreteGaussian
from bruit.core.neighbours import ADD_OR_REMOVE_ONE
from bruit.privacy.accounting.gaussian import gaussian_delta

EPSILON, DELTA = 0.5, 1e-5
WRITTEN = np.format_float_scientific(DELTA, trim="-", exp_digits=1)
JANUARY, FEBRUARY = 100, 101
"""The lecture's employees of two months: tables that differ by one person."""

REACH = {"small": 20, "full": 30}
QUESTIONS = {"small": (1, 10, 100), "full": (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)}
CONFIDENCE = 0.95


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,  # noqa: ARG001  nothing is drawn
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Writes the laws, the answers of two neighbouring tables, and the error of k counts under one budget."""
    folder.mkdir(parents=True, exist_ok=True)
    laws, asked = law_table(REACH[size]), question_table(QUESTIONS[size])
    laws.write_csv(folder / "laws.csv")
    asked.write_csv(folder / "questions.csv")
    drawn = (plot_laws(folder, laws), plot_neighbours(folder, laws), plot_questions(folder, asked))
    if on_progress is not None:
        on_progress(1, 1)
    figures = headline(laws, asked)
    return Findings(summarise(figures), (folder / "laws.csv", folder / "questions.csv", *drawn), figures)


def laplace(epsilon: float, questions: int = 1) -> IntegerNoise:
    """Noise for k counts of one person each, under a pure ε for all."""
    return IntegerNoise.laplace(Fraction(str(epsilon)), sensitivity=questions, neighbours=ADD_OR_REMOVE_ONE)


def gauss(epsilon: float, delta: float, questions: int = 1) -> IntegerNoise:
    """The least Gaussian noise for k counts under (ε, δ): their ℓ2 sensitivity is the root of k.

    [Balle & Wang 2018]
    """
    shift = optimize.brentq(lambda each: gaussian_delta(each, epsilon) - delta, 1e-6, 100.0)
    variance = Fraction(questions / shift**2)
    return IntegerNoise(DiscreteGaussian(variance, squared_sensitivity=questions, neighbours=ADD_OR_REMOVE_ONE))


def classic_deviation(epsilon: float, delta: float) -> float:
    """The thesis's σ for one count, which asks for ε < 1.                       [Dwork & Roth 2014, Thm A.1]"""
    return float(np.sqrt(2 * np.log(1.25 / delta)) / epsilon)


def law_table(reach: int) -> polars.DataFrame:
    """The chance of each value of the noise by both laws, and of answers about two neighbouring tables."""
    places = np.arange(-reach, reach + 1)
    found = {"noise": places, "laplace": laplace(EPSILON).law(reach), "gauss": gauss(EPSILON, DELTA).law(reach)}
    return polars.DataFrame(found)


def question_table(questions: tuple[int, ...]) -> polars.DataFrame:
    """How far k counts stray under one (ε, δ), by each law."""
    rows = [
        (k, laplace(EPSILON, k).half_width(CONFIDENCE), gauss(EPSILON, DELTA, k).half_width(CONFIDENCE))
        for k in questions
    ]
    return polars.DataFrame(rows, ["questions", "laplace", "gauss"], orient="row")


def headline(laws: polars.DataFrame, asked: polars.DataFrame) -> dict[str, float]:
    """Half-widths for one and for many counts, the calibrations of Gauss, and the largest ratio of two answers."""
    chances = laws["laplace"].to_numpy()
    many = asked.row(-1, named=True)
    cheaper = asked.filter(polars.col("gauss") < polars.col("laplace"))["questions"].min()
    return {
        "laplace_half_width": float(asked["laplace"][0]),
        "gauss_half_width": float(asked["gauss"][0]),
        "least_deviation_of_gauss": float(np.sqrt(float(gauss(EPSILON, DELTA).loss.variance))),  # type: ignore[union-attr]
        "deviation_by_the_thesis": classic_deviation(EPSILON, DELTA),
        "largest_log_ratio": float(np.abs(np.diff(np.log(chances))).max()),
        "questions": float(many["questions"]),
        "laplace_half_width_of_many": float(many["laplace"]),
        "gauss_half_width_of_many": float(many["gauss"]),
        "questions_from_which_gauss_is_closer": float(cheaper if isinstance(cheaper, int) else np.inf),
    }


def summarise(figures: dict[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    least, stated = figures["least_deviation_of_gauss"], figures["deviation_by_the_thesis"]
    many = figures["laplace_half_width_of_many"], figures["gauss_half_width_of_many"]
    return (
        f"One count at ε = {EPSILON:g} strays by at most {figures['laplace_half_width']:.0f} with Laplace noise and "
        f"{figures['gauss_half_width']:.0f} with Gaussian noise (δ = {WRITTEN}), {CONFIDENCE:.0%} of the time; the "
        f"chances of an answer about {JANUARY} and about {FEBRUARY} people differ by a factor of "
        f"e^{figures['largest_log_ratio']:.3g} at most. The thesis's σ is {stated:.2f}, the least that keeps it "
        f"{least:.2f}. Of {figures['questions']:.0f} counts under the same budget each strays by {many[0]:.0f} with "
        f"Laplace and {many[1]:.0f} with Gaussian noise, which is the closer one from "
        f"{figures['questions_from_which_gauss_is_closer']:.0f} counts on (of those tried)."
    )


def plot_laws(folder: Path, laws: polars.DataFrame) -> Path:
    """Both laws of the noise on one count."""
    names = {"laplace": "Laplace", "gauss": f"Gauss, δ = {WRITTEN}"}
    series = [plots.Series(label, laws["noise"], laws[name]) for name, label in names.items()]
    return plots.curves(
        folder / "laws.png", series, title=f"Noise on a count, ε = {EPSILON:g}", x="noise, people", y="chance"
    )


def plot_neighbours(folder: Path, laws: polars.DataFrame) -> Path:
    """What is answered about two tables that differ by one person."""
    noise = laws["noise"].to_numpy()
    series = [
        plots.Series(f"{count} employees", noise + count, laws["laplace"], dashed=count == JANUARY)
        for count in (JANUARY, FEBRUARY)
    ]
    title = f"Noised counts of two neighbouring tables, ε = {EPSILON:g}"
    return plots.curves(folder / "neighbours.png", series, title=title, x="answer, people", y="chance")


def plot_questions(folder: Path, asked: polars.DataFrame) -> Path:
    """The error of each of k counts under one budget."""
    names = {"laplace": "Laplace", "gauss": f"Gauss, δ = {WRITTEN}"}
    series = [plots.Series(label, asked["questions"], asked[name]) for name, label in names.items()]
    return plots.curves(
        folder / "questions.png",
        series,
        title=f"Many counts under one ε = {EPSILON:g}",
        x="counts that are asked for",
        y="error of each, people (95 %)",
        x_scale="log",
        y_scale="log",
    )
