"""A training that was stopped goes on, from the state in its file and the steps in its book."""

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from deep.books import halves, ledger
from torch import nn

import bruit
from bruit.deep import Training, privatise
from bruit.errors import BadFile, BudgetExceeded, InvalidArgument, LedgerError

torch.set_num_threads(1)


def opened(
    book: bruit.Ledger,
    file: Path,
    *,
    seed: int | None = None,
    epochs: int = 5,
    clip: float | bruit.deep.AdaptiveClip = 1.0,
) -> Training:
    torch.manual_seed(4)
    model = nn.Linear(4, 2)
    return privatise(
        model,
        torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
        halves(),
        budget=book.budget(epsilon=2.0, delta=1e-5),
        epochs=epochs,
        batch_size=64,
        clip=clip,
        checkpoint=file,
        every=3,
        rng=None if seed is None else np.random.default_rng(seed),
    )


def take(training: Training, steps: int) -> None:
    for batch, _ in zip(training, range(steps), strict=False):
        training.step(batch)


def weights(training: Training) -> torch.Tensor:
    return torch.cat([p.detach().flatten().clone() for p in training.model.parameters()])


def test_a_stopped_training_goes_on_without_a_second_charge(tmp_path: Path) -> None:
    book, file = ledger(), tmp_path / "run.pt"
    first = opened(book, file)
    take(first, 6)
    at_six, momentum = weights(first), first.optimiser.state_dict()["state"][0]["momentum_buffer"].clone()
    take(first, 2)  # these are lost: the next stretch was entered, its result never written
    spent = book.spent
    second = opened(book, file)
    assert torch.equal(weights(second), at_six)
    assert torch.equal(second.optimiser.state_dict()["state"][0]["momentum_buffer"], momentum)
    assert (second.done, second.charge.number) == (9, first.charge.number)
    assert book.spent == spent
    take(second, 100)
    assert second.done == second.steps == 20
    assert book.spent == spent
    stretches = [line for line in book.entries if line.what.startswith("deep.train, steps")]
    assert sum(times for line in stretches for _, times in line.loss.parts()) == 20


def test_no_stretch_is_taken_twice_from_copies_of_a_file(tmp_path: Path) -> None:
    book, file = ledger(), tmp_path / "run.pt"
    first = opened(book, file)
    take(first, 4)
    shutil.copy(file, tmp_path / "copy.pt")
    one, two = opened(book, file), opened(book, tmp_path / "copy.pt")
    take(one, 1)
    with pytest.raises(BudgetExceeded, match="was used before"):
        take(two, 1)
    take(first, 2)  # the rest of its own stretch, which it holds
    with pytest.raises(BudgetExceeded, match="was used before"):
        take(first, 1)


def test_a_finished_training_is_read_again_for_nothing(tmp_path: Path) -> None:
    book, file = ledger(), tmp_path / "run.pt"
    first = opened(book, file)
    take(first, 100)
    first.release()
    again = opened(book, file)
    assert list(again) == []
    assert torch.equal(weights(again), weights(first))
    assert book.spent == again.charge.ledger.spent


def test_rule_8_a_resumed_training_sees_new_noise_from_the_same_seed(tmp_path: Path) -> None:
    book, file = ledger(), tmp_path / "run.pt"
    first = opened(book, file, seed=1)
    drawn = [first.stream.rng.random() for _ in range(5)]
    take(first, 1)
    second = opened(book, file, seed=1)
    assert not set(drawn) & {second.stream.rng.random() for _ in range(1000)}


def test_another_plan_another_book_and_another_file_are_told_apart(tmp_path: Path) -> None:
    book, file = ledger(), tmp_path / "run.pt"
    take(opened(book, file), 1)
    with pytest.raises(InvalidArgument, match="another plan"):
        opened(book, file, epochs=6)
    with pytest.raises(LedgerError, match="another book"):
        opened(ledger(), file)
    file.write_bytes(file.read_bytes()[:200])
    with pytest.raises(BadFile, match="no checkpoint"):
        opened(book, file)


def test_a_training_goes_on_under_the_assumptions_that_it_was_charged_with(tmp_path: Path) -> None:
    book, file = ledger(), tmp_path / "run.pt"
    take(opened(book, file), 1)
    with pytest.raises(InvalidArgument, match="without assuming seeded"):
        opened(book, file, seed=1)
    assert opened(book, file).done == 3


def test_a_clip_that_adapts_does_not_go_on_from_one_that_does_not(tmp_path: Path) -> None:
    book, file = ledger(), tmp_path / "run.pt"
    take(opened(book, file), 1)
    with pytest.raises(InvalidArgument, match="does not adapt"):
        opened(book, file, clip=bruit.deep.AdaptiveClip(start=1.0))


KILLED = """
import os, signal, sys, torch, bruit
from pathlib import Path
sys.path.insert(0, sys.argv[3])
from deep.test_checkpoints import opened, take
book = bruit.Ledger.open("digits", sys.argv[1])
take(opened(book, Path(sys.argv[2])), 5)
os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_killed_training_resumes_and_charges_once(tmp_path: Path) -> None:
    store, file = f"sqlite:///{tmp_path / 'book.db'}", tmp_path / "run.pt"
    terms: dict[str, Any] = {"neighbours": bruit.ADD_OR_REMOVE_ONE, "person": bruit.EACH_ROW}
    book = bruit.Ledger("digits", epsilon=3.0, delta=1e-4, store=store, **terms)
    given = [sys.executable, "-c", KILLED, store, str(file), str(Path(__file__).parents[1])]
    assert subprocess.run(given, check=False).returncode == -9
    charged = book.spent.epsilon
    assert 1.9 < charged <= 2
    resumed = opened(book, file)
    assert resumed.done == 6
    take(resumed, 100)
    assert resumed.done == 20
    assert book.spent.epsilon == charged
