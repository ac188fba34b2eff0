"""Membership inference on an overfit network, trained with and without privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import polars
from numpy.typing import NDArray

from bruit import sweeps
from bruit.apps import plots
from bruit.apps.findings import Findings, Size
from bruit.apps.studies.membership.attacks import Trained, area, by_likelihood_ratio, by_loss, true_positives
from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.ledger import Ledger
from bruit.privacy import delta, plan

DELTA = 1e-5
RECORDS: Mapping[Size, int] = {"small": 200, "full": 1000}
"""Records whose membership is decided by coins; the others are for testing."""

MODELS: Mapping[Size, int] = {"small": 6, "full": 32}
EPOCHS: Mapping[Size, int] = {"small": 40, "full": 150}
PRIVATE_EPOCHS: Mapping[Size, int] = {"small": 10, "full": 30}
REPEATS: Mapping[Size, int] = {"small": 2, "full": 5}
EPSILONS = (math.inf, 8.0, 1.0)
HIDDEN, CLIP = 128, 1.0
BATCHES, RATE = 4, 3e-3
PRIVATE_BATCHES, PRIVATE_RATE = 2, 2e-2
"""Private steps are few and large: noise is added once a step."""

FALSE_POSITIVES = np.array([0.001, 0.003, 0.01, 0.03, 0.1, 0.3])
ATTACKS = {"loss threshold": by_loss, "likelihood ratio": by_likelihood_ratio}


def run(
    folder: Path,
    *,
    size: Size,
    rng: np.random.Generator | None = None,
    on_progress: Callable[[int, int], None] | None = None,
) -> Findings:
    """Trains many models with and without privacy, attacks each, and writes two tables and a figure."""
    folder.mkdir(parents=True, exist_ok=True)
    grid = [{"size": size, "epsilon": epsilon} for epsilon in EPSILONS]
    rows = sweeps.run(
        attack_once, grid, repeats=REPEATS[size], rng=rng, file=folder / f"sweep_{size}.jsonl", on_progress=on_progress
    )
    table = sweeps.summary(rows, by=["size", "epsilon"], within=(0, 1)).with_columns(_bounds(size))
    rows.write_csv(folder / "repeats.csv")
    table.write_csv(folder / "membership.csv")
    figures = headline(table)
    files = (folder / "membership.csv", folder / "repeats.csv", *plot_findings(folder, table))
    used = f"only {RECORDS[size]} of the digits" if size == "small" else ""
    return Findings(summarise(figures), files, figures, used)


def attack_once(*, rng: np.random.Generator, size: Size, epsilon: float) -> Mapping[str, float]:
    """Trains models on random halves of one data set; returns both attacks' success and the models' accuracy."""
    inputs, targets = digits()
    included = rng.random((MODELS[size], RECORDS[size])) < 0.5
    confidences, right = [], []
    with _one_thread():
        for members in included:
            said = _model(inputs, targets, members, size=size, epsilon=epsilon, rng=rng)
            confidences.append(_confidence(said, targets)[: len(members)])
            correct = said.argmax(axis=1) == targets
            right.append((correct[: len(members)][members].mean(), correct[RECORDS["full"] :].mean()))
    trained = Trained(np.array(confidences), included)
    found = dict(zip(("accuracy on members", "accuracy on others"), map(float, np.mean(right, axis=0)), strict=True))
    for name, attack in ATTACKS.items():
        scores = attack(trained)
        found[f"{name}, area"] = area(scores, included)
        shares = true_positives(scores, included, FALSE_POSITIVES)
        found |= {f"{name} at {fpr:g}": float(share) for fpr, share in zip(FALSE_POSITIVES, shares, strict=True)}
    return found


@contextmanager
def _one_thread() -> Iterator[None]:
    """Holds torch to one thread: several add up in another order, so that a seed would not repeat the digits.

    On networks this small they mostly wait for each other, too.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


@cache
def digits() -> tuple[NDArray[np.float32], NDArray[np.int64]]:
    """1797 images of handwritten digits, 8 by 8, in a fixed random order.           [Alpaydin & Kaynak 1998]"""
    from sklearn.datasets import load_digits

    found = load_digits()
    order = np.random.default_rng(0).permutation(len(found.target))
    return (found.data[order] / 16).astype(np.float32), found.target[order].astype(np.int64)


def _model(
    inputs: NDArray[np.float32],
    targets: NDArray[np.int64],
    members: NDArray[np.bool_],
    *,
    size: Size,
    epsilon: float,
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """Trains a network on the members and gives the log chances of every class for every record."""
    import torch

    place = np.flatnonzero(members)
    data = torch.from_numpy(inputs[place]), torch.from_numpy(targets[place])
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(rng.integers(2**63)))
        layers = torch.nn.Linear(64, HIDDEN), torch.nn.ReLU(), torch.nn.Linear(HIDDEN, 10)
        model = torch.nn.Sequential(*layers)
        if math.isinf(epsilon):
            _train_plainly(model, data, epochs=EPOCHS[size])
        else:
            _train_privately(model, data, size=size, epsilon=epsilon, rng=rng)
    with torch.no_grad():
        return np.asarray(torch.log_softmax(model(torch.from_numpy(inputs)).double(), 1).numpy())


def _train_plainly(model: Any, data: tuple[Any, Any], *, epochs: int) -> None:
    """Until every member is known by heart."""
    import torch

    optimiser = torch.optim.Adam(model.parameters(), lr=RATE)
    inputs, targets = data
    for _ in range(epochs):
        for batch in torch.randperm(len(inputs)).tensor_split(BATCHES):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(model(inputs[batch]), targets[batch])
            loss.backward()
            optimiser.step()


def _train_privately(model: Any, data: Any, *, size: Size, epsilon: float, rng: np.random.Generator) -> None:
    import torch

    from bruit.deep import train

    book = Ledger("membership", epsilon=epsilon, delta=DELTA, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    budget = book.budget(epsilon=epsilon, delta=DELTA)
    train(
        model,
        data,
        budget=budget,
        clip=CLIP,
        optimiser=partial(torch.optim.Adam, lr=PRIVATE_RATE),
        rng=rng,
        **_terms(size),
    )


def _terms(size: Size) -> dict[str, Any]:
    """The public numbers of a private run: half of the records are expected to be members."""
    expected = RECORDS[size] // 2
    return {"size": expected, "batch_size": expected // PRIVATE_BATCHES, "epochs": PRIVATE_EPOCHS[size]}


def _confidence(said: NDArray[np.float64], targets: NDArray[np.int64]) -> NDArray[np.float64]:
    """log(p / (1 - p)) of the right class, from log chances."""
    own = np.take_along_axis(said, targets[:, None], 1)[:, 0]
    rest = said.copy()
    np.put_along_axis(rest, targets[:, None], -np.inf, 1)
    return np.asarray(own - np.logaddexp.reduce(rest, axis=1))


@cache
def most_found(size: Size, epsilon: float) -> tuple[float, ...]:
    """The largest true positive rate that the guarantee allows at each false positive rate.

    TPR <= min over e of e^e FPR + delta(e) and of 1 - e^-e (1 - delta(e) - FPR), with the whole curve delta(e) of the
    run. The share over all records keeps to it too, as a mean of points below a concave curve.
    """
    if math.isinf(epsilon):
        return (1.0,) * len(FALSE_POSITIVES)
    asked: dict[str, Any] = {"delta": DELTA, "neighbours": ADD_OR_REMOVE_ONE, "target_epsilon": epsilon}
    loss = plan(**_terms(size), **asked).loss
    most = np.ones(len(FALSE_POSITIVES))
    for each in np.linspace(0, epsilon, 17):
        chance = float(delta(loss, epsilon=float(each), by="pld"))
        steep = np.exp(each) * FALSE_POSITIVES + chance
        flat = 1 - np.exp(-each) * (1 - chance - FALSE_POSITIVES)
        most = np.minimum(most, np.minimum(steep, flat))
    return tuple(map(float, most))


def _bounds(size: Size) -> polars.Expr:
    """The column of bounds: for a share of members found, the most that the guarantee allows."""
    told = {
        (epsilon, f"{name} at {fpr:g}"): bound
        for epsilon in EPSILONS
        for name in ATTACKS
        for fpr, bound in zip(FALSE_POSITIVES, most_found(size, epsilon), strict=True)
    }
    both = polars.struct("epsilon", "quantity")
    return both.map_elements(
        lambda row: told.get((row["epsilon"], row["quantity"])), return_dtype=polars.Float64, skip_nulls=False
    ).alias("bound")


def plot_findings(folder: Path, table: polars.DataFrame) -> tuple[Path, ...]:
    """Plots the stronger attack's ROC curve for every epsilon beside the guarantee's bound; needs matplotlib."""
    if not plots.available():
        return ()
    series = []
    for epsilon in EPSILONS:
        part = _along(table, "likelihood ratio", epsilon)
        name = "without privacy" if math.isinf(epsilon) else f"ε = {epsilon:g}"
        series.append(plots.Series(name, FALSE_POSITIVES, part["mean"], part["low"], part["high"]))
    for epsilon in EPSILONS[1:]:
        bound = _along(table, "likelihood ratio", epsilon)["bound"]
        series.append(plots.Series(f"most at ε = {epsilon:g}", FALSE_POSITIVES, bound, dashed=True))
    series.append(plots.Series("guessing", FALSE_POSITIVES, FALSE_POSITIVES, dashed=True))
    title = "Members found by a likelihood-ratio attack"
    x, y = "others called members", "members found"
    path = plots.curves(folder / "membership.png", series, title=title, x=x, y=y, x_scale="log", y_scale="log")
    return (path,)


def _along(table: polars.DataFrame, attack: str, epsilon: float) -> polars.DataFrame:
    """The rows of one attack at rising shares of false positives."""
    rows = [f"{attack} at {fpr:g}" for fpr in FALSE_POSITIVES]
    part = table.filter(polars.col("epsilon") == epsilon)
    return polars.concat([part.filter(polars.col("quantity") == row) for row in rows])


def headline(table: polars.DataFrame) -> dict[str, float]:
    """The accuracy, the attacks' AUC and their true positive rate at 1 % false positives, for every epsilon."""
    asked = ("accuracy on members", "accuracy on others", "likelihood ratio, area", "likelihood ratio at 0.01")
    figures = {}
    for epsilon, quantity, mean, bound in table.select("epsilon", "quantity", "mean", "bound").iter_rows():
        name = "without privacy" if math.isinf(epsilon) else f"epsilon {epsilon:g}"
        if quantity in (*asked, "loss threshold, area", "loss threshold at 0.01"):
            figures[f"{name}: {quantity}"] = float(mean)
        if quantity == "likelihood ratio at 0.01":
            figures[f"{name}: most at 0.01"] = float(bound)
    return figures


def summarise(figures: Mapping[str, float]) -> str:
    """The findings as one paragraph of plain text for the report and the terminal."""
    lines = []
    for name in dict.fromkeys(key.split(":")[0] for key in figures):
        get = partial(lambda name, quantity: figures[f"{name}: {quantity}"], name)
        most = get("most at 0.01")
        limit = "nothing limits any attack" if most == 1 else f"no attack can find more than {most:.1%}"
        lines.append(
            f"{name if most == 1 else f'at {name}'}, the network is right on {get('accuracy on members'):.0%} of its "
            f"members and {get('accuracy on others'):.0%} of others; at one false alarm in a hundred the "
            f"likelihood-ratio attack finds {get('likelihood ratio at 0.01'):.1%} of the members "
            f"(area {get('likelihood ratio, area'):.3f}), a threshold on the loss "
            f"{get('loss threshold at 0.01'):.1%}, and {limit}"
        )
    return ". ".join(line[0].upper() + line[1:] for line in lines) + "."
