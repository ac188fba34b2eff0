"""The tour of `bruit demo` as figures and one HTML page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bruit.apps import plots
from bruit.apps.studies.report import Part, page
from bruit.apps.tour import tour
from bruit.apps.tour.stops import Words, stops
from bruit.apps.tour.tour import Tour


def write_page(seen: Tour, folder: Path, words: Words) -> Path:
    """Plots the figures where possible, writes the HTML page and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = plot_stops(seen, folder, words) if plots.available() else {}
    parts = [
        Part(
            stop.title,
            [
                text
                for text in (stop.told, stop.after, *(words("page.quote", line=line) for line in stop.quote))
                if text
            ],
            table=stop.table,
            figures=[figures[name]] if name in figures else [],
            guarantee=stop.guarantee,
        )
        for name, stop in stops(seen, words).items()
    ]
    place = folder / "index.html"
    text = page(words("page.title"), words("page.introduction"), parts, folder=folder, language=words.language)
    place.write_text(text, encoding="utf-8")
    return place


def plot_stops(seen: Tour, folder: Path, words: Words) -> dict[str, Path]:
    """Saves the figures of the stops that have one."""
    return {name: plot(seen, folder / f"{name}.png", words) for name, plot in FIGURES.items()}


def plot_survey(seen: Tour, path: Path, words: Words) -> Path:
    """The true, received and estimated shares as bars."""
    found = seen.survey
    groups = [
        plots.Bars(words("survey.truth"), [1 - found.truth, found.truth]),
        plots.Bars(words("survey.bars_received"), [1 - found.received, found.received]),
        plots.Bars(
            words("survey.bars_estimated"),
            [1 - found.estimate, found.estimate],
            [1 - found.high, found.low],
            [1 - found.low, found.high],
        ),
    ]
    answers = [words(f"survey.{answer}") for answer in tour.ANSWERS]
    title = words("survey.figure", epsilon=words.number(tour.EPSILON))
    return plots.bars(path, answers, groups, title=title, y=words("survey.share"), commas=words.commas)


def plot_deciles(seen: Tour, path: Path, words: Words) -> Path:
    """The released deciles beside those of the table."""
    shares = [10 * number for number in range(1, 10)]
    released = words("deciles.line", epsilon=words.number(tour.PRICE))
    lines = [
        plots.Series(words("deciles.exact"), shares, seen.deciles.truth, dashed=True),
        plots.Series(released, shares, seen.deciles.value),
    ]
    title, x, y = (words(f"deciles.{name}") for name in ("figure", "people", "income"))
    return plots.curves(path, lines, title=title, x=x, y=y, commas=words.commas)


def plot_model(seen: Tour, path: Path, words: Words) -> Path:
    """The score of the private model at each ε beside that of the exact one."""
    model = seen.model
    scores, spreads = np.array(model.scores), np.array(model.spreads)
    areas = [
        plots.Series(words("model.private"), model.epsilons, scores, scores - spreads, scores + spreads),
        plots.Series(words("model.exact"), model.epsilons, np.full(len(scores), model.exact), dashed=True),
    ]
    title, x, y = (words(f"model.{name}") for name in ("figure", "epsilon", "area"))
    return plots.curves(path, areas, title=title, x=x, y=y, x_scale="log", commas=words.commas)


FIGURES = {"survey": plot_survey, "deciles": plot_deciles, "model": plot_model}
