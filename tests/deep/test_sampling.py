"""Poisson samples and the batches made of them."""

from fractions import Fraction

import numpy as np
import pytest
import torch
from laws import assert_law
from scipy import stats
from torch.utils.data import Dataset, TensorDataset

from bruit.deep.training.dataset import Records
from bruit.deep.training.poisson_sampling import PoissonSampler
from bruit.errors import InvalidArgument

CPU = torch.device("cpu")


class Squares(Dataset[tuple[torch.Tensor, int]]):
    """A data set that gives one record at a time."""

    def __len__(self) -> int:
        return 40

    def __getitem__(self, place: int) -> tuple[torch.Tensor, int]:
        return torch.full((3,), float(place)), place % 4


def test_the_size_of_a_batch_is_binomial_and_empty_ones_are_kept() -> None:
    sampler, rng = PoissonSampler(6, Fraction(1, 4)), np.random.default_rng(1)
    sizes = np.array([len(sampler.draw(rng)) for _ in range(32_768)])
    assert_law(np.bincount(sizes, minlength=7), stats.binom.pmf(np.arange(7), 6, 0.25))


def test_two_records_are_drawn_independently() -> None:
    sampler, rng = PoissonSampler(2, Fraction(1, 3)), np.random.default_rng(2)
    seen = np.array([sum(1 << int(place) for place in sampler.draw(rng)) for _ in range(32_768)])
    assert_law(np.bincount(seen, minlength=4), np.array([4, 2, 2, 1]) / 9)


@pytest.mark.parametrize(
    "data", [Squares(), TensorDataset(torch.arange(40.0)[:, None].expand(40, 3), torch.arange(40))]
)
@pytest.mark.parametrize("at_once", [7, 16, 40])
def test_no_record_is_cut_and_padding_weighs_nothing(data: Dataset[object], at_once: int) -> None:
    places = np.arange(3, 37)
    parts = list(Records(data, example=(torch.zeros(3), 0)).parts(places, at_once=at_once, device=CPU))
    assert max(len(part.weights) for part in parts) <= at_once
    kept = torch.cat([part.inputs[0][part.weights == 1] for part in parts])
    assert kept[:, 0].tolist() == places.tolist()
    assert all(not part.inputs[0][part.weights == 0].any() for part in parts)
    assert {len(part.inputs[0]) - len(part.targets) for part in parts} == {0}


def test_an_empty_batch_has_no_parts() -> None:
    assert list(Records(Squares(), example=(torch.zeros(3), 0)).parts(np.arange(0), at_once=8, device=CPU)) == []


def test_the_example_holds_zeros() -> None:
    example = Records((torch.full((4, 3), 7.0), torch.full((4,), 9))).example(CPU)
    assert not example.inputs[0].any()
    assert not example.targets.any()


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ((torch.zeros(0, 3), torch.zeros(0)), "empty"),
        (iter([1, 2]), "give a torch Dataset with a length"),
        ((torch.zeros(4, 3),), "inputs and a target"),
    ],
)
def test_data_that_cannot_be_trained_on_is_said(data: object, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        Records(data)
