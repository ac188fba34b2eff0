"""One gradient for each owner of several rows: people with many records, and records with many views."""

from typing import Any

import numpy as np
import pandas
import polars
import pytest
import torch
from deep.models import each_loss, made
from numpy.typing import NDArray
from torch import Tensor, nn

from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep import AdaptiveClip, Views, cross_entropy, examine, privatise, shifted, train
from bruit.deep.compiled.graphs import state_of, trace
from bruit.deep.per_sample.ghost_clipping import Engine
from bruit.deep.per_sample.rules.convolution import convolution
from bruit.deep.per_sample.several_rows import unit_gradients
from bruit.deep.training.dataset import Part, Records
from bruit.deep.training.people import People
from bruit.errors import InvalidArgument, PrivacyError
from bruit.ledger import Ledger

CPU = torch.device("cpu")
CASES = ["linear", "conv2d", "conv2d, gram", "rnn", "embedding", "group norm", "attention", "single number"]


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("case", CASES)
def test_the_rows_of_an_owner_have_the_clipped_mean_of_their_gradients(case: str, traced: bool) -> None:
    model, inputs, _ = made(case)
    rows, owners = 3, 4
    inputs = inputs[torch.arange(rows * owners) % 5]
    labels = torch.arange(rows * owners) % 3
    engine = Engine(model, examine(model, (inputs,)), each_loss, 0.05)
    weights = torch.tensor([1.0, 1.0, 0.0, 1.0])
    found = engine.clipped_sum((inputs,), labels, weights)
    if traced:  # the graph that a compiled step is made of
        given = (state_of(model), (inputs,), labels, weights)
        graph = trace(engine, given)
        found = graph.together(graph.module(*given[0].values(), inputs, labels, weights)) or {}
    expected = {name: torch.zeros_like(p) for name, p in model.named_parameters() if p.requires_grad}
    chosen = [p for p in model.parameters() if p.requires_grad]
    for owner in (0, 1, 3):
        own = slice(owner * rows, (owner + 1) * rows)
        each = torch.autograd.grad(each_loss(model(inputs[own]), labels[own]).mean(), chosen)
        norm = torch.cat([part.flatten() for part in each]).norm()
        for name, part in zip(expected, each, strict=True):
            expected[name] += part * min(1.0, 0.05 / float(norm))
    for name, part in expected.items():
        torch.testing.assert_close(found[name].to(part.dtype), part, rtol=1e-3, atol=1e-6)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.parametrize(("build", "shape"), [(nn.Conv1d, (9,)), (nn.Conv2d, (9, 5)), (nn.Conv3d, (6, 5, 4))])
def test_images_below_each_other_have_the_sum_of_their_gradients(
    build: type[nn.Conv2d], shape: tuple[int, ...], kernel: int, stride: int, padding: int, groups: int
) -> None:
    torch.manual_seed(5)
    layer = build(4, 6, kernel, stride, padding, 1, groups).double()
    inputs = torch.randn(6, 4, *shape, dtype=torch.float64)
    outputs = torch.randn_like(layer(inputs))
    each, found = convolution(layer, inputs, outputs), unit_gradients(convolution, layer, inputs, outputs, 3)
    for own, alone in each.items():
        wanted = alone.per_sample().unflatten(0, (2, 3)).sum(1)
        torch.testing.assert_close(found[own].per_sample(), wanted)
        torch.testing.assert_close(found[own].squares(), wanted.flatten(1).square().sum(1))


def book(person: str) -> Ledger:
    return Ledger("people", epsilon=30, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=person)


def test_records_of_people_are_taken_in_turn_and_bounded() -> None:
    owners = np.array(["a"] * 5 + ["b"] + ["c"] * 2)
    people = People((torch.arange(8.0).unsqueeze(1), torch.zeros(8, dtype=torch.int64)), owners, 2)
    assert len(people) == 3
    seen: set[float] = set()
    for step in range(3):
        rows = {}
        for part in people.parts(np.arange(3), at_once=100, device=CPU, even=1, step=step):
            rows[len(part.targets) // len(part.weights)] = part.inputs[0].flatten().tolist()
        assert {count: len(values) for count, values in rows.items()} == {1: 1, 2: 4}
        seen |= set(rows[2][:2])
    assert seen == {0.0, 1.0, 2.0, 3.0, 4.0}


def test_a_person_with_many_records_moves_the_sum_no_further_than_the_clip() -> None:
    torch.manual_seed(5)
    model = nn.Linear(3, 2)
    inputs, labels, owners = torch.randn(30, 3), torch.arange(30) % 2, np.arange(30) // 3
    inputs[:3], labels[:3] = 1e3 * model.weight.detach()[0], 1  # all records of one person are canaries
    engine = Engine(model, examine(model, (inputs,)), cross_entropy, 0.5)

    def total(names: NDArray[np.int64], kept: Tensor) -> Tensor:
        people = People((inputs[kept], labels[kept]), names[kept.numpy()], 3)
        sums = torch.zeros(8)
        for part in people.parts(np.arange(len(people)), at_once=100, device=CPU):
            found = engine.clipped_sum(part.inputs, part.targets, part.weights)
            sums += torch.cat([each.flatten() for each in found.values()])
        return sums

    all_rows, as_rows = torch.arange(30), np.arange(30)
    assert float((total(owners, all_rows) - total(owners, all_rows[3:])).norm()) <= 0.5
    assert float((total(as_rows, all_rows) - total(as_rows, all_rows[3:])).norm()) > 0.5


NAMELESS = {
    "texts": ["a", "b", None, "a"],
    "large numbers": [2**60, 2**60 + 1, None, 2**60],
    "large numbers, NaN": [2**60, 2**60 + 1, float("nan"), 2**60],
    "texts that end in a zero": ["a", "a\0", None, "a"],
    "mixed": [1, "b", None, 1.0],
    "polars": polars.Series([2**60, 2**60 + 1, None, 2**60]),
    "pandas": pandas.array([2**60, 2**60 + 1, None, 2**60], dtype="Int64"),
    "NumPy": np.array(["a", "b", None, "a"], object),
}


@pytest.mark.parametrize("names", NAMELESS.values(), ids=NAMELESS.keys())
def test_a_record_without_a_person_is_left_out_and_leaves_the_others_who_they_are(names: Any) -> None:
    people = People((torch.arange(4.0).unsqueeze(1), torch.zeros(4, dtype=torch.int64)), names, 3)
    rows = [
        sorted(part.inputs[0].flatten().tolist())
        for place in range(len(people))
        for part in people.parts(np.array([place]), at_once=100, device=CPU, even=1)
    ]
    assert rows == [[0.0, 3.0], [1.0]]


def test_a_missing_name_moves_no_person_further_than_the_clip() -> None:
    """As floats two people near 2^60 were one, whose clipped gradient each of them moves by twice the bound."""
    model = nn.Linear(1, 1, bias=False)
    engine = Engine(model, examine(model, (torch.zeros(2, 1),)), lambda scores, _: scores[:, 0], 1.0)
    inputs, names = torch.tensor([[1e9], [-1e3], [0.0]]), [2**60, 2**60 + 1, None]

    def total(kept: list[int]) -> float:
        own = polars.Series([names[place] for place in kept], dtype=polars.Int64)
        people = People((inputs[kept], torch.zeros(len(kept), dtype=torch.int64)), own, 2)
        parts = people.parts(np.arange(len(people)), at_once=10, device=CPU)
        found = [engine.clipped_sum(part.inputs, part.targets, part.weights) for part in parts]
        return sum(float(each["weight"]) for each in found)

    assert abs(total([0, 1, 2]) - total([1, 2])) <= 1


def test_training_by_person_asks_for_a_book_of_people_and_a_bound() -> None:
    data, owners = (torch.randn(12, 3), torch.arange(12) % 2), np.arange(12) // 2

    def fit(named: Ledger, most: int | None) -> object:
        budget = named.budget(epsilon=1, delta=1e-4)
        return train(
            nn.Linear(3, 2),
            data,
            budget=budget,
            person=owners,
            records_per_person=most,
            epochs=1,
            batch_size=3,
            clip=1.0,
        )

    with pytest.raises(InvalidArgument, match="records_per_person="):
        fit(book("patient"), None)
    rows = book(EACH_ROW)
    with pytest.raises(PrivacyError, match="protects"):
        fit(rows, 2)
    assert not rows.releases
    done = train(
        nn.Linear(3, 2),
        data,
        budget=book("patient").budget(epsilon=1, delta=1e-4),
        person=owners,
        records_per_person=2,
        epochs=1,
        batch_size=3,
        clip=1.0,
    )
    assert done.guarantee.person == "patient"
    assert done.details["rate"] == 0.5


def test_views_of_a_record_hold_nothing_of_another() -> None:
    images = torch.zeros(4, 1, 6, 6)
    images[1] = 1
    views = Views(5, lambda image: shifted(image, pixels=2))
    found = views.of(Part((images,), torch.arange(4), torch.ones(4)))
    assert found.inputs[0].shape == (20, 1, 6, 6)
    assert found.targets.tolist() == [label for label in range(4) for _ in range(5)]
    assert found.inputs[0].flatten(1).mean(1).tolist() == [0.0] * 5 + [1.0] * 5 + [0.0] * 10


@pytest.mark.parametrize("seed", range(4))
def test_a_shifted_image_is_a_window_of_the_padded_one(seed: int) -> None:
    image = torch.randn(2, 6, 7, generator=torch.Generator().manual_seed(seed))
    padded = nn.functional.pad(image.unsqueeze(0), (2,) * 4, mode="reflect").squeeze(0)
    windows = [padded[:, top : top + 6, left : left + 7] for top in range(5) for left in range(5)]
    torch.manual_seed(seed)
    found = shifted(image, pixels=2)
    assert any(torch.equal(found, each) or torch.equal(found, each.flip(2)) for each in windows)


def test_a_model_trains_on_views() -> None:
    done = train(
        nn.Sequential(nn.Conv2d(1, 2, 3), nn.Flatten(), nn.Linear(32, 2)),
        (torch.randn(32, 1, 6, 6), torch.arange(32) % 2),
        budget=book(EACH_ROW).budget(epsilon=2, delta=1e-4),
        epochs=1,
        batch_size=8,
        clip=1.0,
        views=Views(3, lambda image: shifted(image, pixels=1)),
    )
    assert done.details["steps"] == 4


def test_a_dataset_is_not_read_before_the_charge() -> None:
    class Watched(torch.utils.data.Dataset[tuple[Tensor, int]]):
        read = 0

        def __len__(self) -> int:
            return 12

        def __getitem__(self, place: int) -> tuple[Tensor, int]:
            type(self).read += 1
            return torch.full((3,), float(place)), place % 2

    with pytest.raises(InvalidArgument, match="example="):
        Records(Watched())
    records = Records(Watched(), example=(torch.zeros(3), 0))
    records.example(CPU)
    assert Watched.read == 0


def test_the_noise_of_a_count_is_paid_within_that_of_the_gradients() -> None:
    clip = AdaptiveClip(1.0)
    for noise, batch in ((0.6, 64), (1.1, 4096), (8.0, 16)):
        gradients, count = clip.gradient_noise(noise, batch), clip.deviation(noise, batch)
        assert 1 / gradients**2 + 1 / (2 * count) ** 2 == pytest.approx(1 / noise**2)
        assert noise < gradients < 1.16 * noise


@pytest.mark.parametrize("scale", [0.01, 100.0])
def test_a_bound_that_adapts_finds_the_median_of_the_norms(scale: float) -> None:
    torch.manual_seed(7)
    inputs = torch.randn(400, 3) * scale
    model = nn.Linear(3, 2, bias=False)
    nn.init.zeros_(model.weight)
    training = privatise(
        model,
        torch.optim.SGD(model.parameters(), lr=1e-12),
        (inputs, torch.arange(400) % 2),
        budget=book(EACH_ROW).budget(epsilon=20, delta=1e-4),
        epochs=60,
        batch_size=200,
        clip=AdaptiveClip(1.0, rate=0.5),
    )
    for batch in training:
        training.step(batch)
    assert isinstance(training.engine, Engine)
    norms = (inputs.norm(dim=1) * 0.5**0.5).sort().values  # ‖(p − y) xᵀ‖ with p = ½ for both classes
    share = float((norms <= training.engine.bound).float().mean())
    assert 0.35 < share < 0.65
