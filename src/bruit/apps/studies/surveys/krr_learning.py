"""Learns marital status from answers randomised by KRR: the project's forest, and models that know the channel.

[docs/spec.md S0.5, S0.6] The training file and the test file of UCI Adult are the split. Training people send seven
attributes and the label, test people the attributes, each answer through k-ary randomised response; predictions are
compared with the true labels of the test people, which nobody sent.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit import sweeps
from bruit.apps import data, plots
from bruit.apps.data.census_categories import CATEGORIES
from bruit.apps.findings import Findings, Size
from bruit.learning import ChannelLogistic, ChannelNaiveBayes, ChannelTree, Questionnaire, RandomisedForest
from bruit.randomness import generator

LABEL = "marital-status"
ATTRIBUTES = ("workclass", "education", "occupation", "relationship", "race", "sex", "native-country")
EPSILONS = {"small": [0.1, 1.0, 10.0], "full": [1.0, 5.0, 0.5, 10.0, 0.1, 0.05, 0.01]}
"""The ε of the sweep, the most informative first, so that an interrupted sweep already holds them."""

REPEATS = {"small": 2, "full": 50}
TREES = {"small": 5, "full": 50}
PEOPLE = {"small": 4000, "full": None}
"""How many of the training people take part; None is all."""

NAMES = {
    "forest": "forest (as in the project)",
    "naive_bayes": "naive Bayes, unmixed",
    "logistic": "logistic, forward channel",
    "tree": "tree, unmixed",
    "noised_majority": "noised majority",
    "on_device": "naive Bayes on the device",
    "sizes": "tree, split by sizes",
    "two_questions": "tree, two questions only",
}
SAME_DATA = ("forest", "naive_bayes", "logistic", "tree", "noised_majority")
LARGEST_TOTAL = 70
"""One answer has an epsilon of at most 36, and two of them stay below it."""

OTHER_SPLITS = ("tree", "sizes", "two_questions", "on_device")


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Runs every epsilon several times; writes all repeats, means with intervals, each person's cost, and figures."""
    folder.mkdir(parents=True, exist_ok=True)
    people, trees = PEOPLE[size], TREES[size]
    once = partial(learn_once, people=people, trees=trees)
    file = folder / f"sweep_{size}.jsonl"
    grid: dict[str, Sequence[float]] = {"epsilon": EPSILONS[size]}
    rows = sweeps.run(once, grid, repeats=REPEATS[size], rng=rng, file=file, on_progress=on_progress)
    table = sweeps.summary(rows, by=["epsilon"], within=(0, 1))
    rows.write_csv(folder / "repeats.csv")
    table.write_csv(folder / "accuracy.csv")
    prices(EPSILONS[size]).write_csv(folder / "prices.csv")
    lines = references(people, trees, generator(rng))
    files = [folder / f"{name}.csv" for name in ("accuracy", "repeats", "prices")]
    figures = headline(table, lines)
    used = f"only the first {people} training people" if people else ""
    return Findings(summarise(figures, REPEATS[size]), (*files, *plot_findings(folder, table, lines)), figures, used)


def learn_once(*, rng: np.random.Generator, epsilon: float, people: int | None, trees: int) -> Mapping[str, float]:
    """One randomised survey: the accuracy of each learning method on the true labels of the test people."""
    training, test = tables(people)
    asked = questionnaire(epsilon=epsilon)
    sent = asked.randomise(training, rng=rng), asked.randomise_label(training[LABEL], rng=rng)
    answers, true = asked.randomise(test, rng=rng), test[LABEL].to_numpy()
    seed = int(rng.integers(2**31))
    models: dict[str, Any] = {
        "forest": RandomisedForest(asked, n_estimators=trees, random_state=seed),
        "naive_bayes": ChannelNaiveBayes(asked),
        "logistic": ChannelLogistic(asked),
        "tree": ChannelTree(asked),
    }
    found = {name: accuracy(model.fit(*sent).predict(answers), true) for name, model in models.items()}
    labels, counts = np.unique(sent[1], return_counts=True)
    found["noised_majority"] = float((true == labels[counts.argmax()]).mean())
    on_device = ChannelNaiveBayes(asked, inputs="true").fit(*sent)
    found["on_device"] = accuracy(on_device.predict(asked.places(test)), true)
    return found | other_splits(training, test, epsilon, rng)


def other_splits(
    training: polars.DataFrame, test: polars.DataFrame, epsilon: float, rng: np.random.Generator
) -> dict[str, float]:
    """Accuracies when the same total epsilon is split between the questions in other ways."""
    ways: dict[str, Any] = {"sizes": "sizes", "two_questions": {LABEL: 1, "relationship": 1}}
    found = {}
    for name, split in ways.items():
        asked = questionnaire(total=min(8 * epsilon, LARGEST_TOTAL), split=split)
        model = ChannelTree(asked)
        model.fit(asked.randomise(training, rng=rng), asked.randomise_label(training[LABEL], rng=rng))
        found[name] = accuracy(model.predict(asked.randomise(test, rng=rng)), test[LABEL].to_numpy())
    return found


def questionnaire(**price: Any) -> Questionnaire:
    """The questionnaire of seven attributes and the label, at a price."""
    return Questionnaire({name: CATEGORIES[name] for name in (*ATTRIBUTES, LABEL)}, label=LABEL, **price)


@cache
def tables(people: int | None) -> tuple[polars.DataFrame, polars.DataFrame]:
    """The training people (all or the first `people`) and the test people."""
    training = data.adult("training")
    return training if people is None else training.head(people), data.adult("test")


def accuracy(told: NDArray[Any], true: NDArray[Any]) -> float:
    """The share of right predictions."""
    return float((told == true).mean())


def references(people: int | None, trees: int, rng: np.random.Generator) -> dict[str, float]:
    """The accuracy without noise: of the same forest, and of always predicting the most frequent label."""
    from sklearn.ensemble import RandomForestClassifier

    training, test = tables(people)
    asked, true = questionnaire(epsilon=1), test[LABEL].to_numpy()
    forest = RandomForestClassifier(trees, random_state=int(rng.integers(2**31)))
    forest.fit(asked.places(training), training[LABEL].to_numpy())
    labels, counts = np.unique(training[LABEL].to_numpy(), return_counts=True)
    return {
        "forest without noise": accuracy(forest.predict(asked.places(test)), true),
        "majority": float((true == labels[counts.argmax()]).mean()),
    }


def prices(epsilons: Sequence[float]) -> polars.DataFrame:
    """Each person's total epsilon: for training, for a remote prediction, and for one on their own device (zero)."""
    rows = []
    for epsilon in epsilons:
        asked = questionnaire(epsilon=epsilon)
        rows.append((epsilon, float(asked.training_epsilon), float(asked.test_epsilon), 0.0))
    names = ["epsilon", "training_person", "test_person", "test_person_on_device"]
    return polars.DataFrame(rows, names, orient="row")


def headline(table: polars.DataFrame, lines: dict[str, float]) -> dict[str, float]:
    """Headline numbers by name: the mean accuracy of each method and epsilon, and the reference accuracies."""
    found = {name.replace(" ", "_"): value for name, value in lines.items()}
    for epsilon, quantity, mean in table.select("epsilon", "quantity", "mean").iter_rows():
        found[f"{quantity}_at_{epsilon:g}"] = float(mean)
    return found


def summarise(figures: dict[str, float], repeats: int) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    naive, aware, device = (figures[f"{name}_at_1"] for name in ("forest", "logistic", "on_device"))
    return (
        f"Marital status from seven attributes, every answer through randomised response ({repeats} surveys): at ε = 1 "
        f"an answer (8 for a training person, 7 for a test person) the project's forest is right {naive:.1%} of the "
        f"time, telling everybody the most frequent status {figures['majority']:.1%}, logistic regression that knows "
        f"the channel {aware:.1%}, and naive Bayes that predicts on each person's own device {device:.1%}; without "
        f"noise the forest is right {figures['forest_without_noise']:.1%} of the time."
    )


def plot_findings(folder: Path, table: polars.DataFrame, lines: dict[str, float]) -> tuple[Path, Path]:
    """Plots accuracy against epsilon: from the same reports, and with the same total split in other ways."""
    pictures = (
        ("same_reports.png", SAME_DATA, "Marital status from randomised answers: the same reports"),
        ("same_total.png", OTHER_SPLITS, "Marital status from randomised answers: the same eight ε"),
    )
    first, second = (
        plots.curves(
            folder / file,
            [*(series(table, name) for name in names), *flat(table, lines)],
            title=title,
            x="ε of one answer",
            y="share of right predictions",
            x_scale="log",
        )
        for file, names, title in pictures
    )
    return first, second


def series(table: polars.DataFrame, name: str) -> plots.Series:
    """One curve of accuracy against epsilon, with the standard deviation between surveys."""
    part = table.filter(polars.col("quantity") == name).sort("epsilon")
    mean, spread = part["mean"].to_numpy(), part["deviation"].fill_null(0.0).to_numpy()
    low, high = np.clip([mean - spread, mean + spread], 0, 1)
    return plots.Series(NAMES[name], part["epsilon"], mean, low, high)


def flat(table: polars.DataFrame, lines: dict[str, float]) -> list[plots.Series]:
    """A flat curve for each reference accuracy."""
    ends = sorted(table["epsilon"].unique())[:: max(1, table["epsilon"].n_unique() - 1)]
    return [plots.Series(name, ends, [value] * len(ends), dashed=True) for name, value in lines.items()]
