"""The tour of `bruit demo` as figures and one HTML page."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bruit.apps import plots
from bruit.apps.studies.report import Part, page
from bruit.apps.tour import tour
from bruit.apps.tour.tour import Tour

INTRODUCTION = (
    "Everything is a noisy channel: a coin flipped in a survey, noise on a statistic, a bad telephone line. "
    "Its law tells how private an answer is, how well a crowd can still be counted through it, and how much a code can "
    "carry across it. Every number here was drawn when this page was made."
)


def write_page(seen: Tour, folder: Path) -> Path:
    """Plots the figures where possible, writes the HTML page and returns its path."""
    folder.mkdir(parents=True, exist_ok=True)
    figures = plot_stops(seen, folder) if plots.available() else {}
    place = folder / "index.html"
    place.write_text(page("A tour of bruit", INTRODUCTION, parts(seen, figures), folder=folder), encoding="utf-8")
    return place


def parts(seen: Tour, figures: dict[str, Path]) -> list[Part]:
    """One section of the page for each stop of the tour."""
    return [part(seen, [figures[name]] if name in figures else []) for name, part in PARTS.items()]


def survey(seen: Tour, figures: list[Path]) -> Part:
    """The survey as a section of the page."""
    found = seen.survey
    return Part(
        "A question too delicate to be answered straight",
        [
            f"In 1974 a magazine asked {found.people} married women about affairs. Here a coin flips each answer on "
            f"way: {found.lies:.0%} of the reports are lies, so nobody can be blamed for a yes. {found.received:.1%} "
            f"of the reports say yes; since the coin is known, the truth is estimated at {found.estimate:.1%} "
            f"({found.low:.1%} to {found.high:.1%}). It is {found.truth:.1%}."
        ],
        figures=figures,
        guarantee=found.guarantee,
    )


def beliefs(seen: Tour, figures: list[Path]) -> Part:
    """The meaning of epsilon, as a section of the page."""
    rows = [(f"{row['prior']:.0%}", f"{row['low']:.1%}", f"{row['high']:.1%}") for row in seen.beliefs]
    return Part(
        f"What ε = {tour.EPSILON:g} means",
        ["How strongly somebody may believe a yes of yours, before and after your report:"],
        table=[("before", "at least, after", "at most, after"), *rows],
        figures=figures,
    )


def gives(seen: Tour, figures: list[Path]) -> Part:
    """The disclosure risk of the raw table, as a section of the page."""
    found = seen.gives
    return Part(
        "Why not just leave out the names?",
        [
            f"The raw answers hold no name. Yet of {found.rows} women, {found.uniques} are alone with their "
            f"{', '.join(found.columns[:-1])} and {found.columns[-1]}. Whoever knows these of somebody finds her "
            f"for certain in {found.certain} cases; an attacker who holds a tenth of the table links "
            f"{found.linked:.0%} of them rightly. These are exact figures for the curator, not a release."
        ],
        figures=figures,
    )


def deciles(seen: Tour, figures: list[Path]) -> Part:
    """The deciles as a section of the page."""
    found = seen.deciles
    rows = [
        (f"{10 * number} %", f"{value:.0f}", f"{truth:.0f}")
        for number, (value, truth) in enumerate(zip(found.value, found.truth, strict=True), 1)
    ]
    return Part(
        "Nine deciles, paid from a book",
        [
            f"A curator releases the deciles of the incomes of {found.people} invented people. The charge is in the "
            f"book before the table is read. It held ε = {found.spent + found.remaining:g} and has {found.remaining:g} "
            f"left; asked again, it says: {found.refusal}"
        ],
        table=[("decile", "released", "in the table"), *rows],
        figures=figures,
        guarantee=found.guarantee,
    )


def model(seen: Tour, figures: list[Path]) -> Part:
    """The private model as a section of the page."""
    found = seen.model
    rows = [
        (epsilon, f"{score:.3f} ± {spread:.3f}")
        for epsilon, score, spread in zip(found.epsilons, found.scores, found.spreads, strict=True)
    ]
    return Part(
        "A model that spends from a book",
        [
            "Who will say yes? An additive model is fitted on two thirds of the women, with noise on every sum it "
            "reads, and ranks the other third. The area under the curve is 0.5 for guessing; mean and deviation of "
            f"{found.repeats} fits, each paid from a book of its own."
        ],
        table=[("ε at δ = 1e-5", "area under the curve"), *rows, ("exact", f"{found.exact:.3f}")],
        figures=figures,
        guarantee=found.guarantee,
    )


def audits(seen: Tour, figures: list[Path]) -> Part:
    """The audits as a section of the page."""
    cheat = {**seen.caught, "name": f"{seen.caught['name']}, half the noise"}
    rows = [
        (row["name"], row["neighbours"], row["claimed"], row["lower_bound"], row["verdict"])
        for row in (*seen.audits, cheat)
    ]
    return Part(
        "Do they keep their word?",
        ["Measured from outside, an ε cannot be below this bound; the last row was built to cheat."],
        table=[("name", "neighbours", "claimed", "at least", "verdict"), *rows],
        figures=figures,
    )


def word(seen: Tour, figures: list[Path]) -> Part:
    """The word across the channel as a section of the page."""
    found = seen.word
    return Part(
        "A word across the same kind of channel",
        [
            f"Randomised response over {tour.LETTERS} letters at ε = {found.epsilon:g} is a line that garbles one "
            f"letter in twenty and carries {found.capacity:.2f} bits each. It made “{found.received}” of the sentence. "
            f"A Reed–Solomon code with {tour.CHECKS} more letters ({found.wrong} of {found.sent} arrived wrong) reads: "
            f"“{found.read}”"
        ],
        figures=figures,
    )


PARTS = {
    "survey": survey,
    "beliefs": beliefs,
    "gives": gives,
    "deciles": deciles,
    "model": model,
    "audits": audits,
    "word": word,
}


def plot_stops(seen: Tour, folder: Path) -> dict[str, Path]:
    """Saves the figures of the stops that have one."""
    found, income = seen.survey, seen.deciles
    groups = [
        plots.Bars("truth", [1 - found.truth, found.truth]),
        plots.Bars("reports received", [1 - found.received, found.received]),
        plots.Bars(
            "estimate, 95 % interval",
            [1 - found.estimate, found.estimate],
            [1 - found.high, found.low],
            [1 - found.low, found.high],
        ),
    ]
    title = f"Had an affair? Randomised response, ε = {tour.EPSILON:g}"
    shares = [10 * number for number in range(1, 10)]
    lines = [
        plots.Series("in the table", shares, income.truth, dashed=True),
        plots.Series(f"released, ε = {tour.PRICE:g}", shares, income.value),
    ]
    model = seen.model
    scores, spreads = np.array(model.scores), np.array(model.spreads)
    areas = [
        plots.Series("private", model.epsilons, scores, scores - spreads, scores + spreads),
        plots.Series("exact", model.epsilons, np.full(len(scores), model.exact), dashed=True),
    ]
    return {
        "model": plots.curves(
            folder / "model.png",
            areas,
            title="What privacy costs a model",
            x="ε at δ = 1e-5",
            y="area under the curve",
            x_scale="log",
        ),
        "survey": plots.bars(folder / "survey.png", list(tour.ANSWERS), groups, title=title, y="share of the answers"),
        "deciles": plots.curves(
            folder / "deciles.png", lines, title="Nine private deciles", x="share of people (%)", y="income below"
        ),
    }
