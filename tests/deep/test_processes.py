"""Two processes that train together: one charge, one noise, one model."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from deep.books import halves, ledger
from laws import ALARM
from scipy import stats
from torch import Tensor, nn

from bruit.deep import Banded, privatise
from bruit.deep.noise import INDEPENDENT
from bruit.deep.training.distributed import process_group
from bruit.errors import InvalidArgument

torch.set_num_threads(1)

WORKER = """
import os, sys, torch, numpy as np
from bruit.deep import Banded
sys.path.insert(0, sys.argv[4])
from deep.test_processes import noise_alone, run
rank, file, out = int(sys.argv[1]), sys.argv[2], sys.argv[3]
torch.distributed.init_process_group("gloo", init_method=f"file://{file}", rank=rank, world_size=2)
banded = {"banded": run(True, pays=rank == 0, correlation=Banded(2))["weight"], "drawn": noise_alone(pays=rank == 0)}
torch.save(run(True, pays=rank == 0) | banded, f"{out}/{rank}.pt")
torch.distributed.barrier()
torch.distributed.destroy_process_group()
os._exit(0)  # gloo's threads sometimes abort a process that is ending
"""


def run(processes: object, *, pays: bool = True, correlation: Banded = INDEPENDENT) -> dict[str, Any]:
    """Three steps of one training from one seed."""
    torch.manual_seed(1 if pays else 2)  # the others start from another model, and are given the first one's
    model, book = nn.Linear(4, 2).double(), ledger()
    inputs, targets = halves()
    training = privatise(
        model,
        torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9),
        (inputs.double(), targets),
        budget=book.budget(epsilon=2.0, delta=1e-5) if pays else None,
        epochs=1,
        batch_size=64,
        clip=1.0,
        correlation=correlation,
        processes=processes,
        rng=np.random.default_rng(3) if pays else None,
    )
    batches = iter(training)
    for _ in range(3):
        training.step(next(batches))
    release = training.release()
    found = {"weight": model.weight.detach().clone(), "charges": len(book.entries), "noise": release.details["noise"]}
    return found | {"epsilon": float(release.guarantee.epsilon)}


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    folder = tmp_path_factory.mktemp("team")
    given = [str(folder / "meeting"), str(folder), str(Path(__file__).parents[1])]
    started = [subprocess.Popen([sys.executable, "-c", WORKER, str(rank), *given]) for rank in range(2)]
    assert [each.wait(timeout=100) for each in started] == [0, 0]
    return [torch.load(folder / f"{rank}.pt") for rank in range(2)]


def test_two_processes_give_the_model_of_one(both: list[dict[str, Any]]) -> None:
    alone = run(None)
    for one in both:
        torch.testing.assert_close(one["weight"], alone["weight"], rtol=1e-12, atol=1e-12)


def test_two_processes_correlate_the_noise_as_one_does(both: list[dict[str, Any]]) -> None:
    alone = run(None, correlation=Banded(2))
    for one in both:
        torch.testing.assert_close(one["banded"], alone["weight"], rtol=1e-12, atol=1e-12)


def test_one_process_pays_and_both_know_the_guarantee(both: list[dict[str, Any]]) -> None:
    assert [one["charges"] for one in both] == [1, 0]
    assert both[0]["epsilon"] == both[1]["epsilon"] <= 2


def test_a_group_that_was_not_started_is_said() -> None:
    with pytest.raises(InvalidArgument, match="init_process_group"):
        process_group(True)


def noise_alone(*, pays: bool) -> Tensor:
    """The gradient of a step on no data, over the deviation it should have."""
    model, data = nn.Linear(400, 50), (torch.zeros(1000, 400), torch.zeros(1000, dtype=torch.long))
    training = privatise(
        model,
        torch.optim.SGD(model.parameters(), lr=0.0),
        data,
        budget=ledger().budget(epsilon=8.0, delta=1e-5) if pays else None,
        epochs=1,
        batch_size=1,
        clip=3.0,
        processes=True,
    )
    batch = next(iter(training))
    object.__setattr__(batch, "places", np.arange(0))
    training.step(batch)
    drawn = torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])
    return drawn / (3.0 * training.plan.noise_multiplier)


def test_noise_of_the_right_size_is_added_once(both: list[dict[str, Tensor]]) -> None:
    first, second = (one["drawn"] for one in both)
    assert torch.equal(first, second)
    low, high = (stats.chi2.ppf(share, first.numel()) for share in (ALARM / 2, 1 - ALARM / 2))
    assert low < first.double().square().sum().item() < high
