"""A training with correlated noise: who is drawn, what is added, what is charged, and how it goes on after a stop."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from deep.banded_runs import resumable, started, taken
from deep.books import halves, ledger
from laws import ALARM, assert_law
from scipy import stats
from torch import Tensor, nn

import bruit
from bruit.deep import Banded, Training, train
from bruit.deep.noise import Groups
from bruit.errors import BudgetExceeded, InvalidArgument

torch.set_num_threads(1)


def gradient(training: Training) -> Tensor:
    return torch.cat([p.grad.flatten() for p in training.model.parameters() if p.grad is not None])


def test_the_run_is_charged_as_planned_before_the_data_is_read() -> None:
    book = ledger()
    training = started(4, budget=book.budget(epsilon=2.0, delta=1e-5))
    (entry,) = book.entries
    ((each, times),) = entry.loss.parts()
    assert isinstance(each, bruit.privacy.Sampled)
    assert (each.rate, times, training.steps) == (1, 2, 8)
    assert entry.guarantee.epsilon == bruit.privacy.epsilon(entry.loss, delta=1e-5, by="pld") <= 2
    spent = [training.epsilon_so_far()] + [training.step(batch) or training.epsilon_so_far() for batch in training]  # type: ignore[func-returns-value]
    assert spent[1] == spent[4] < spent[5] == spent[8] == float(entry.guarantee.epsilon)
    assert training.release().details["bands"] == 4


def test_every_record_is_only_in_steps_of_its_own_group() -> None:
    training = started(3, epochs=15)
    assert training.groups is not None
    for step, places in enumerate(taken(training)):
        assert set(training.groups.dealt[places]) <= {step % 3}


def test_the_size_of_a_batch_is_binomial_at_the_rate_that_was_asked_for() -> None:
    """Over groups and coins together a record is in with probability B/n, independently of the others."""
    training = started(4, data=(torch.zeros(6, 4), torch.zeros(6).long()), size=8, batch_size=1)
    sizes = []
    for seed in range(2048):
        training.groups = Groups(6, 4, f"{seed:x}")
        sizes.append(len(training._draw()))
    assert_law(np.bincount(sizes, minlength=7), stats.binom.pmf(np.arange(7), 6, 1 / 8))


def test_a_batch_that_is_drawn_and_left_out_moves_no_turn() -> None:
    training = started(3)
    assert training.groups is not None
    batches = iter(training)
    next(batches)
    training.step(second := next(batches))
    assert set(training.groups.dealt[second.places]) == {0}
    assert set(training.groups.dealt[next(batches).places]) == {1}


def test_the_noise_of_the_steps_is_that_of_the_matrix_and_empty_batches_get_it_too() -> None:
    model = nn.Linear(400, 50).double()
    data = (torch.zeros(1000, 400).double(), torch.zeros(1000, dtype=torch.long))
    training = started(3, model=model, data=data, batch_size=1, clip=3.0, epochs=1)
    column, seen = Banded(3).coefficients(training.steps), []
    for batch, _ in zip(training, range(5), strict=False):
        object.__setattr__(batch, "places", np.arange(0))
        training.step(batch)
        seen.append(gradient(training) / (3.0 * training.plan.noise_multiplier))
    for step in range(5):
        independent = sum(column[lag] * seen[step - lag] for lag in range(min(3, step + 1)))
        low, high = (stats.chi2.ppf(share, len(seen[0])) for share in (ALARM / 10, 1 - ALARM / 10))
        assert low < float(torch.as_tensor(independent).square().sum()) < high


def test_one_band_is_ordinary_noise_and_sampling_bit_for_bit() -> None:
    """The stream of the first entry gives the coins of a batch and then its noise, and nothing else."""
    training = started(1)
    assert training.correlated is None
    stream = np.random.default_rng([int(np.random.default_rng(1).integers(2**63)), 1, 0])
    for batch in training:
        np.testing.assert_array_equal(batch.places, np.flatnonzero(stream.random(256) < 0.25))
        sums = training._clip(batch)
        training.step(batch)
        noise = torch.from_numpy(stream.standard_normal(10, dtype=np.float32))
        pieces = [
            each.add(part, alpha=training.plan.noise_multiplier / 64)
            for each, part in zip([sums["weight"].flatten(), sums["bias"]], noise.split([8, 2]), strict=True)
        ]
        assert torch.equal(gradient(training), torch.cat(pieces))


@pytest.mark.parametrize("changed", [{"at_once": 5}, {"compiled": True}])
def test_computing_in_parts_or_compiled_changes_nothing(
    changed: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("bruit.deep.compiled.graphs.torch.compile", lambda graph, **_: graph)
    gradients = []
    for asked in ({}, changed):
        inputs, targets = halves()
        training = started(3, model=nn.Linear(4, 2).double(), data=(inputs.double(), targets), **asked)
        with torch.no_grad():
            for parameter in training.model.parameters():
                parameter.fill_(0.1)
        taken(training, 3)
        gradients.append(gradient(training))
    torch.testing.assert_close(*gradients, rtol=1e-12, atol=1e-12)


def test_after_a_step_that_failed_the_noise_starts_anew() -> None:
    training = started(3)
    taken(training, 2)
    clipped = training._clip
    training._clip = _no_room  # type: ignore[assignment, method-assign]
    with pytest.raises(InvalidArgument, match="memory"):
        taken(training, 1)
    assert training.done == 3
    training._clip = clipped  # type: ignore[method-assign]
    correlated = training.correlated
    assert correlated is not None
    (_, before) = correlated._past[torch.float32]
    taken(training, 1)
    (last, after) = correlated._past[torch.float32]
    assert (last, len(before), len(after)) == (4, 2, 1)


def _no_room(*_: object) -> dict[str, Tensor]:
    raise InvalidArgument("no memory")


def test_a_group_smaller_than_a_batch_is_refused_before_anything_is_charged() -> None:
    book = ledger()
    with pytest.raises(InvalidArgument, match="give at most bands=4"):
        started(5, budget=book.budget(epsilon=2.0, delta=1e-5))
    assert book.entries == ()


def test_an_amount_of_noise_is_refused() -> None:
    with pytest.raises(InvalidArgument, match=r"correlation=1\.5: give bruit\.deep\.Banded"):
        started(correlation=1.5)


def test_without_privacy_there_are_neither_groups_nor_noise() -> None:
    training = started(3, budget=bruit.WITHOUT_PRIVACY)
    assert training.groups is None
    taken(training, 2)
    assert training.release().method == "SGD without privacy"


def test_a_model_learns_through_correlated_noise() -> None:
    torch.manual_seed(1)
    model, (inputs, targets) = nn.Linear(4, 2), halves(2048)
    run = train(
        model,
        (inputs, targets),
        budget=ledger().budget(epsilon=4.0, delta=1e-5),
        epochs=4,
        batch_size=256,
        clip=1.0,
        correlation=Banded(4, momentum=0.5),
        optimiser=lambda parameters: torch.optim.SGD(parameters, lr=1.0, momentum=0.5),
        rng=np.random.default_rng(2),
    )
    assert (model(inputs).argmax(1) == targets).float().mean() > 0.9
    assert run.guarantee.epsilon <= 4
    assert run.method == "DP-SGD with correlated noise"


def test_a_stopped_training_keeps_its_groups_and_forgets_its_noise(tmp_path: Path) -> None:
    book, file = ledger(), tmp_path / "run.pt"
    first = resumable(book, file, seed=1)
    taken(first, 10)
    spent = book.spent
    kept = torch.load(file, weights_only=True)
    assert set(kept) == {"format", "book", "entry", "model", "optimiser", "groups"}
    second = resumable(book, file, seed=1)
    assert (second.done, second.charge.number) == (16, first.charge.number)
    assert first.groups is not None
    assert second.groups is not None
    assert np.array_equal(first.groups.dealt, second.groups.dealt)
    assert second.correlated is not None
    assert not second.correlated._past
    assert first.stream.rng.random() != second.stream.rng.random()
    for step, places in enumerate(taken(second), start=16):
        assert set(second.groups.dealt[places]) <= {step % 4}
    assert second.done == second.steps == 20
    assert book.spent == spent
    stretches = [line for line in book.entries if line.what.startswith("deep.train, steps")]
    assert bruit.privacy.composed((line.loss, 1) for line in stretches) == first.charge.loss
    with pytest.raises(BudgetExceeded, match="was used before"):
        taken(first, 10)


def test_another_number_of_bands_is_another_plan(tmp_path: Path) -> None:
    book, file = ledger(), tmp_path / "run.pt"
    taken(resumable(book, file), 1)
    with pytest.raises(InvalidArgument, match="another plan"):
        resumable(book, file, bands=2)


KILLED = """
import os, signal, sys, torch, bruit
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from deep.banded_runs import resumable, taken
taken(resumable(bruit.Ledger.open("digits", sys.argv[1]), Path(sys.argv[2])), 9)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_training_resumes_and_charges_once(tmp_path: Path) -> None:
    store, file = f"sqlite:///{tmp_path / 'book.db'}", tmp_path / "run.pt"
    terms: dict[str, Any] = {"neighbours": bruit.ADD_OR_REMOVE_ONE, "person": bruit.EACH_ROW}
    book = bruit.Ledger("digits", epsilon=3.0, delta=1e-4, store=store, **terms)
    given = [sys.executable, "-c", KILLED, store, str(file), str(Path(__file__).parents[1])]
    assert subprocess.run(given, check=False).returncode == -9
    charged = book.spent.epsilon
    resumed = resumable(book, file)
    assert resumed.done == 16
    taken(resumed)
    assert resumed.done == 20
    assert book.spent.epsilon == charged
