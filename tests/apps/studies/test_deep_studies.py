"""The studies of deep learning: small sizes run, tables say what the document says, and rows repeat."""

import json
import math
from pathlib import Path

import numpy as np
import polars
import pytest
import torch
from click.testing import CliRunner

from bruit.apps.cli import main
from bruit.apps.studies import budget
from bruit.apps.studies.images import cifar10, flowers_document, flowers_settings, frozen_features, mnist
from bruit.apps.studies.memory import study
from bruit.apps.studies.memory.document import MEASURED_BYTES, document_adds
from bruit.deep.features import Recipe

WRITTEN = {
    "budget": {"size.csv", "noise_and_batch_size.png", "order.png", "delta.png", "epochs.csv"},
    "cifar10": {"cifar10.csv", "repeats.csv", "cifar10.png", "networks.csv"},
    "flowers": {
        "table1.csv",
        "flowers.csv",
        "curves.csv",
        "by_rate.png",
        "by_batch_size.png",
        "flowers.png",
        "settings.csv",
        "eyes.csv",
        "vgg16.csv",
    },
    "memory": {"compared.csv", "hidden_units.csv", "thesis.csv", "grid.csv", "compared.png", "hidden_units.png"},
    "mnist": {"mnist.csv", "repeats.csv", "mnist.png"},
}


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


LIKE_FLOWERS = ("cifar10", "mnist")
"""Other images by the same program: outside the gate."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[pytest.mark.stress] * (name in LIKE_FLOWERS)) for name in sorted(WRITTEN)]
)
def test_a_small_study_writes_its_tables_and_figures(name: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(main, ["study", name, "--small", "--seed", "3", "--json", "--folder", str(tmp_path)])
    assert done.exit_code == 0, done.output
    found = json.loads(done.stdout)[name]
    written = {Path(path).name: Path(path) for path in found["files"]}
    assert WRITTEN[name] <= written.keys()
    assert all(path.read_bytes().startswith(b"\x89PNG") for name, path in written.items() if name.endswith("png"))
    assert all(polars.read_csv(path).height > 0 for name, path in written.items() if name.endswith("csv"))


def test_s2_16_settings_are_changed_one_at_a_time() -> None:
    base, *others = flowers_settings.points("full")
    for point in others:
        assert [name for name in base if point[name] != base[name]] == ["setting", point["setting"]]
    assert {point["setting"] for point in others} == flowers_settings.BASE.keys()


def test_s2_11_the_reference_run() -> None:
    assert budget.headline()["rdp-simple"] == pytest.approx(1.17, abs=5e-3)


def test_s2_12_with_noise_in_proportion_larger_batches_cost_less() -> None:
    table = budget.along("noise_multiplier and batch_size", 4).filter(polars.col("by") == "pld").sort("batch_size")
    assert (np.diff(table["epsilon"]) < 0).all()


def test_s2_16_the_epsilon_column_of_table_1() -> None:
    expected = [8.30, 8.08, 7.50, 6.19, 5.76, 5.38, 4.99, 4.92, 5.32, 4.76, 4.73, 4.19, 3.99]
    table = flowers_document.table()
    np.testing.assert_allclose(table["rdp_simple"], expected, atol=6e-3)
    assert (table["pld"] < table["rdp_simple"]).all()
    assert (table["pld_sound"] > table["pld"]).all()


def test_s2_17_the_formulas_of_the_document() -> None:
    asked = {"hidden_units": 26, "batch_size": 64, "reduction": 2}
    assert document_adds("model", private=False, **asked) == pytest.approx(MEASURED_BYTES, rel=0.02)
    assert document_adds("batch", private=False, **asked) == 64 * 3 * 4 * 112**2
    backward = {
        hidden: [
            document_adds("backward", hidden_units=hidden, batch_size=64, reduction=2, private=p) for p in (False, True)
        ]
        for hidden in (26, 64, 128, 240, 512)
    }
    assert {hidden: private - plain for hidden, (plain, private) in backward.items()} == {
        26: 6_150_000,
        64: 6_150_000 + 88_000 * 64,
        128: 25_000_000,
        240: 6_150_000 + 5_821_000,
        512: 6_150_000,
    }
    assert document_adds("step", private=True, **asked) == 108_500 * 66 * 26


def test_s2_17_memory_jumps_where_no_tensor_does() -> None:
    table = study.against_units([26, 27]).filter(~polars.col("private"))
    assert table["allocated"][0] == MEASURED_BYTES
    assert (table["allocated"] >= table["asked"]).all()


def test_a_row_repeats_with_its_stream() -> None:
    first, second = (
        mnist.train_once(rng=np.random.default_rng(4), way="recipe", epsilon=3.0, size="small") for _ in range(2)
    )
    assert first == second


def test_recipes_are_chosen_on_what_is_held_out_and_never_on_the_test() -> None:
    rng = np.random.default_rng(0)
    rows = torch.from_numpy(rng.normal(size=(60, 5))).float()
    labels = (rows[:, 0] > 0).long()
    data = frozen_features.Features(
        rows, labels, torch.full((1, 5), torch.nan), torch.zeros(1, dtype=torch.int64), 2, 20
    )
    part = data.chosen_on()
    assert (len(part.train), len(part.test)) == (40, 20)
    assert torch.equal(part.test, rows[40:])
    seen: list[frozen_features.Trial] = []
    recipes = [Recipe(3, 0.01, 1.0), Recipe(10, 2.0, 1.0)]
    best = frozen_features.choose_recipe(data, recipes, epsilon=50.0, delta=1e-3, rng=rng, on_trial=seen.append)
    assert best == max(seen, key=lambda each: each.best).choice


def test_a_search_that_is_paid_for_costs_more() -> None:
    alone, after = (frozen_features.epsilon_with_search(3.0, 1e-5, trials) for trials in (0, 10))
    assert alone == pytest.approx(3.0, rel=2e-3)
    assert after > 3 * alone


def test_the_best_of_a_random_number_of_runs_costs_two_or_three_of_them() -> None:
    """The bound by hand, in concentrated privacy: ρ + 2√(ρ ln E[K]) + 2 (2√(ρ ln(1/γ)) − ρ) with E[K] = 1/γ = 40."""
    found = frozen_features.epsilon_of_best(3.0, 1e-5, 40)
    rho = 1 / (2 * 1.39124**2)
    whole = rho + 2 * math.sqrt(rho * math.log(40)) + 2 * (2 * math.sqrt(rho * math.log(40)) - rho)
    assert 5 < found < min(3 * 3.0, whole + 2 * math.sqrt(whole * math.log(1e5)))


def test_the_recipes_of_cifar_pay_for_their_statistics() -> None:
    recipes = [recipe for kind in cifar10.RECIPES.values() for recipe in kind.values()]
    assert len(recipes) == 9
    assert all(0 < recipe.steps_share < 1 for recipe in recipes)
