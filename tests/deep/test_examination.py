"""What is refused before any data is read, and how it is said."""

import pytest
import torch
from deep.models import made
from torch import Tensor, nn

from bruit.deep import examine, replace_batch_norm
from bruit.errors import InvalidArgument, NotPrivate


class Mixing(nn.Module):
    """Centres a batch by hand."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, values: Tensor) -> Tensor:
        return self.out(values - values.mean(0))


class Turned(nn.Module):
    """Puts positions before samples."""

    def __init__(self) -> None:
        super().__init__()
        self.out = nn.Linear(4, 2)

    def forward(self, values: Tensor) -> Tensor:
        return self.out(values.transpose(0, 1)).transpose(0, 1).mean(1)


def test_a_batch_norm_is_named_with_its_path_and_a_fix() -> None:
    model = nn.Sequential(nn.Conv2d(1, 8, 3), nn.Sequential(nn.BatchNorm2d(8)), nn.Flatten(), nn.LazyLinear(2))
    model(torch.zeros(2, 1, 5, 5))
    with pytest.raises(NotPrivate, match=r"'1\.0' is a BatchNorm2d.*replace_batch_norm"):
        examine(model, (torch.zeros(1, 1, 5, 5),))
    replaced = replace_batch_norm(model)
    assert isinstance(replaced[1][0], nn.GroupNorm)  # type: ignore[index]
    assert set(examine(replaced, (torch.zeros(1, 1, 5, 5),)).ruled) == {"0", "1.0", "3"}
    assert isinstance(model[1][0], nn.BatchNorm2d)  # type: ignore[index]


def test_an_instance_norm_with_running_statistics_is_replaced() -> None:
    model = nn.Sequential(nn.InstanceNorm1d(3, track_running_stats=True), nn.Flatten(), nn.Linear(12, 2))
    with pytest.raises(NotPrivate, match="InstanceNorm1d"):
        examine(model, (torch.zeros(1, 3, 4),))
    assert set(examine(replace_batch_norm(model), (torch.zeros(1, 3, 4),)).ruled) == {"2"}


def test_a_model_that_mixes_samples_by_hand_is_refused() -> None:
    with pytest.raises(NotPrivate, match="the output of one sample moves with the other samples"):
        examine(Mixing(), (torch.zeros(1, 4),))


def test_positions_before_samples_are_left_to_the_fallback_whatever_their_number() -> None:
    for positions in (2, 3, 5):
        assert examine(Turned(), (torch.zeros(1, positions, 4),)).rest == ("out.weight", "out.bias")


def test_what_has_no_rule_is_left_to_the_fallback() -> None:
    model, inputs, _ = made("bare, unknown, borrowed")
    structure = examine(model, (inputs,))
    assert set(structure.rest) == {"shift", "bend.weight", "borrowed.weight"}
    assert set(structure.ruled) == {"front", "borrowed", "out"}


def test_a_model_with_nothing_to_train_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="no trainable parameter"):
        examine(nn.Linear(2, 2).requires_grad_(False), (torch.zeros(1, 2),))


def test_a_buffer_that_follows_the_data_is_refused() -> None:
    class Remembers(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.out = nn.Linear(4, 2)
            self.register_buffer("seen", torch.zeros(4))

        def forward(self, values: Tensor) -> Tensor:
            self.seen += values.detach().abs().sum(0)
            return self.out(values)

    with pytest.raises(NotPrivate, match="changes its buffer 'seen'"):
        examine(Remembers(), (torch.zeros(1, 4),))


def test_a_batch_norm_that_stands_still_is_a_constant() -> None:
    model = nn.Sequential(nn.BatchNorm1d(4).eval(), nn.Linear(4, 2))
    assert examine(model, (torch.zeros(1, 4),)).rest == ("0.weight", "0.bias")


class Times(nn.Module):
    """A recurrent layer that has times before samples."""

    def __init__(self) -> None:
        super().__init__()
        self.cells, self.out = nn.GRU(4, 3), nn.Linear(3, 2)

    def forward(self, values: Tensor) -> Tensor:
        return self.out(self.cells(values.transpose(0, 1))[0][-1])


def test_a_recurrent_layer_with_times_before_samples_is_left_to_the_fallback() -> None:
    structure = examine(Times(), (torch.zeros(1, 5, 4),))
    assert set(structure.ruled) == {"out"}
    assert all(name.startswith("cells.") for name in structure.rest)


def test_recurrent_layers_and_convolutions_over_three_dimensions_have_rules() -> None:
    for case in ("rnn", "lstm", "gru", "conv3d"):
        model, inputs, _ = made(case)
        assert examine(model, (inputs,)).rest == ()
    model, inputs, _ = made("lstm, projected")
    assert set(examine(model, (inputs,)).rest) == {name for name, _ in model.named_parameters() if "cells" in name}
