"""Digits: the thesis's network with and without privacy, and private heads over frozen features.

[docs/spec.md S2.15]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import polars
import torch
from torch import Tensor
from torch.nn import functional

from bruit import sweeps
from bruit.apps import plots
from bruit.apps.data.images import Images, mnist
from bruit.apps.findings import Findings, Size
from bruit.apps.networks import DigitsNetwork
from bruit.apps.studies.images import paid_search
from bruit.apps.studies.images.device import best_device
from bruit.apps.studies.images.frozen_features import Features, accuracy, epsilon_with_search, trial
from bruit.apps.studies.images.recipes import MNIST
from bruit.apps.studies.images.stand_ins import images_used, marked, titled, trial_run
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep import eye_features, train
from bruit.deep.features import Over, Recipe, Whitening, scattering_features
from bruit.ledger import Ledger
from bruit.privacy import plan

DELTA = 1e-5
DOCUMENT: Mapping[Size, dict[str, Any]] = {
    "small": {"epochs": 1, "batch_size": 64},
    "full": {"epochs": 10, "batch_size": 64},
}
NOISE, CLIP, RATE = 1.0, 1.0, 0.1
"""The thesis's settings; it does not print noise and clip, for which one is taken."""

SAID = {"without": 0.990, "with": 0.912}
NAMES = {"document, without privacy": "the thesis's network, without privacy", "document": "the thesis's network"}
"""What a reader is told for a way of training: the draws of a way hang on its first name."""

REPEATS: Mapping[Size, int] = {"small": 2, "full": 5}

RECIPES = MNIST
SEARCHES = {size: paid_search.points(tuple(RECIPES), size) for size in REPEATS}
TRIALS = 70
EYES = Recipe(80, 64, 0.2, mean_share=0.02, whitenings=(Whitening(0.1, 0.001, 0.5, Over.CHANNELS),))
"""Over the eyes that learned from noise: the recipe of CIFAR-10 at ε = 3 as it is, so nothing was chosen on digits."""

QUICK = Recipe(10, 8, 0.1, average=True, mean_share=0.0225)


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Trains each method on several seeds; writes all results, their summary and a figure."""
    folder.mkdir(parents=True, exist_ok=True)
    grid: list[dict[str, str | float]] = [{"way": w, "epsilon": e, "size": size} for w, e in ways(size)]
    file = folder / f"sweep_{size}.jsonl"
    trained = sweeps.run(train_once, grid, repeats=REPEATS[size], rng=rng, file=file, on_progress=on_progress)
    rows = trained.with_columns(polars.col("way").replace(NAMES))
    table = sweeps.summary(rows, by=["way", "epsilon"], within=(0, 1)).filter(polars.col("quantity") == "accuracy")
    used = images_used(images(size), size)
    marked(rows, used).write_csv(folder / "repeats.csv")
    marked(table, used).write_csv(folder / "mnist.csv")
    tried = sweeps.run(
        search_once, SEARCHES[size], repeats=REPEATS[size], rng=rng, file=folder / f"searches_{size}.jsonl"
    )
    searched = paid_search.write(marked(tried, used), folder / "searches.csv")
    files = (folder / "mnist.csv", folder / "repeats.csv", plot_findings(folder, table, used), folder / "searches.csv")
    if used:
        return Findings(trial_run("MNIST", used), files, data=used)
    figures = headline(table)
    told = f"{summarise(figures, REPEATS[size])} {paid_search.summarise(searched, DELTA)}"
    return Findings(told, files, figures | paid_search.figures(searched))


def ways(size: Size) -> list[tuple[str, float]]:
    """The methods and their budgets: the thesis's network with and without privacy, and two kinds of heads."""
    heads = [(way, epsilon) for way in ("recipe", "eyes") for epsilon in RECIPES]
    return [("document, without privacy", 0.0), ("document", document_epsilon(size)), *heads]


def document_epsilon(size: Size) -> float:
    """The ε that the thesis's settings cost, to six digits."""
    found = plan(
        size=len(images(size).train),
        noise_multiplier=NOISE,
        delta=_delta(size),
        neighbours=ADD_OR_REMOVE_ONE,
        **DOCUMENT[size],
    )
    return float(f"{found.epsilon * 1.0001:.6g}")


def train_once(*, rng: np.random.Generator, way: str, epsilon: float, size: Size) -> Mapping[str, float]:
    """Trains once and returns the accuracy on the test images."""
    if way in ("recipe", "eyes"):
        recipe = QUICK if size == "small" else EYES if way == "eyes" else RECIPES[epsilon]
        found = trial(features(way, size), recipe, epsilon=epsilon, delta=_delta(size), rng=rng)
        return {"accuracy": found.averaged if recipe.average else found.last}
    torch.manual_seed(int(rng.integers(2**31)))  # the start of the network
    model = DigitsNetwork().to(best_device())
    inputs, labels, test, test_labels = _tensors(images(size))
    if way == "document":
        book = Ledger("mnist", epsilon=epsilon, delta=_delta(size), neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
        train(
            model,
            (inputs, labels),
            budget=book.budget(epsilon=epsilon, delta=_delta(size)),
            clip=CLIP,
            optimiser=lambda parameters: torch.optim.SGD(parameters, lr=RATE),
            rng=rng,
            **DOCUMENT[size],
        )
    else:
        _train_plainly(model, inputs, labels, rng, **DOCUMENT[size])
    return {"accuracy": accuracy(model, test, test_labels)}


def search_once(*, rng: np.random.Generator, epsilon: float, size: Size) -> Mapping[str, float | str]:
    """Searches a head over scattering maps, for a price that holds the search."""
    return paid_search.search_once(
        "mnist", features("recipe", size), epsilon=epsilon, delta=_delta(size), size=size, rng=rng
    )


@lru_cache(maxsize=2)
def images(size: Size) -> Images:
    """The digits; only a few of them in the small study."""
    return mnist() if size == "full" else mnist().first(160, 60)


@lru_cache(maxsize=2)
def features(way: str, size: Size) -> Features:
    """Square roots of scattering maps, or features of the noise-pretrained network, for each digit."""
    inputs, labels, test, test_labels = _tensors(images(size))
    make, channels = (_look, 1344) if way == "eyes" else (_scattering, 81)
    return Features(make(inputs), labels, make(test), test_labels, 10, images(size).held_out, channels)


def _look(digits: Tensor) -> Tensor:
    return eye_features(digits.expand(-1, 3, -1, -1)).flatten(1)


def _scattering(digits: Tensor) -> Tensor:
    return scattering_features(digits).clamp(min=0).sqrt().flatten(1)


def _tensors(data: Images) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    device = best_device()
    inputs, test = (torch.from_numpy(part).to(device) / 255 for part in (data.train, data.test))
    return inputs, torch.from_numpy(data.labels).to(device), test, torch.from_numpy(data.test_labels).to(device)


def _train_plainly(
    model: torch.nn.Module, inputs: Tensor, labels: Tensor, rng: np.random.Generator, *, epochs: int, batch_size: int
) -> None:
    """Shuffled batches and gradient descent, as in the thesis."""
    optimiser = torch.optim.SGD(model.parameters(), lr=RATE)
    for _ in range(epochs):
        for places in torch.from_numpy(rng.permutation(len(inputs))).to(inputs.device).split(batch_size):
            optimiser.zero_grad()
            functional.cross_entropy(model(inputs[places]), labels[places]).backward()
            optimiser.step()


def _delta(size: Size) -> float:
    return DELTA if size == "full" else 1e-4


def headline(table: polars.DataFrame) -> dict[str, float]:
    """The mean accuracy of each method, with its standard deviation."""
    found = {}
    for way, epsilon, mean, deviation in table.select("way", "epsilon", "mean", "deviation").iter_rows():
        name = f"{way} ε={epsilon:.3g}" if epsilon else way
        found[name], found[f"{name} deviation"] = mean, deviation
    return found


def summarise(figures: dict[str, float], repeats: int) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    shown = {name: value for name, value in figures.items() if not name.endswith(" deviation")}
    parts = [f"{100 * mean:.2f} ± {100 * figures[f'{name} deviation']:.2f} % ({name})" for name, mean in shown.items()]
    search = ", ".join(f"{epsilon_with_search(each, DELTA, TRIALS):.0f} for {each:g}" for each in RECIPES)
    return (
        f"{repeats} seeds, add or remove one digit, right answers: {'; '.join(parts)}. The thesis says "
        f"{100 * SAID['without']:.1f} % without privacy and {100 * SAID['with']:.1f} % with. Recipes were chosen "
        f"among {TRIALS} on held-out training digits, that of the eyes on CIFAR-10; had each of those trials been paid "
        f"for as well, ε would be {search}."
    )


def plot_findings(folder: Path, table: polars.DataFrame, used: str) -> Path:
    """Draws the share of wrong answers of every training method, with its interval."""
    names = [f"{way}, ε = {epsilon:.3g}" if epsilon else way for way, epsilon in table.select("way", "epsilon").rows()]
    wrong = plots.Bars("wrong answers", *(100 * (1 - table[end]) for end in ("mean", "high", "low")))
    return plots.bars(folder / "mnist.png", names, [wrong], title=titled("Wrong answers on MNIST", used), y="percent")
