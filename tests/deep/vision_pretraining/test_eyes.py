"""Eyes that learned from noise: shipped weights, features of one record alone, and the program that makes them."""

import hashlib
import math
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import torch

import bruit
from bruit.deep import Recipe, eye_features, eye_views, load_eyes, train_head
from bruit.deep.vision_pretraining import Draws, Eyes, Pretraining, pictures, pretrain, view
from bruit.deep.vision_pretraining import eyes as module
from bruit.deep.vision_pretraining.__main__ import main
from bruit.deep.vision_pretraining.contrast import contrast_loss
from bruit.deep.vision_pretraining.network import Learner, Stages
from bruit.errors import InvalidArgument

SMALL = (4, 8, 8)


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


@pytest.fixture(scope="module")
def eyes() -> Eyes:
    return load_eyes()


def test_the_weights_are_the_ones_of_the_card() -> None:
    folder = files("bruit.deep.vision_pretraining")
    content = folder.joinpath("eyes.pt").read_bytes()
    assert hashlib.sha256(content).hexdigest() in folder.joinpath("eyes.md").read_text()
    assert len(content) < 13e6


def test_other_weights_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "DIGEST", "0" * 64)
    with pytest.raises(InvalidArgument, match="not the file that was shipped"):
        load_eyes()


def test_features_are_those_of_a_record_alone(eyes: Eyes) -> None:
    images = torch.rand(3, 3, 32, 32, generator=torch.Generator().manual_seed(0))
    eyes.train()  # asks for the statistics of the batch, in vain
    together, alone = eyes(images), eyes(images[:1])
    assert together.shape == (3, 1344, 3, 3)
    torch.testing.assert_close(together[:1], alone, atol=1e-4, rtol=1e-4)


def test_features_are_frozen(eyes: Eyes) -> None:
    before = {name: each.clone() for name, each in eyes.state_dict().items()}
    eyes.train()
    eyes(torch.rand(2, 3, 16, 16))
    assert not any(parameter.requires_grad for parameter in eyes.parameters())
    assert all(torch.equal(each, before[name]) for name, each in eyes.state_dict().items())


def test_features_of_noise_pictures_have_mean_zero_and_deviation_one(eyes: Eyes) -> None:
    draws = Draws(99)
    with torch.no_grad():
        found = eyes(view(draws, pictures(draws, 24, 48), light=0.4))
    assert abs(float(found.mean())) < 0.1
    assert 0.8 < float(found.std()) < 1.2


def test_a_mirrored_image_gives_other_features_and_a_repeated_one_the_same(eyes: Eyes) -> None:
    image = pictures(Draws(3), 1, 32)
    pair = eye_features(torch.cat([image, image, image.flip(3)]), at_once=2)
    torch.testing.assert_close(pair[0], pair[1], atol=1e-4, rtol=1e-4)
    assert float((pair[0] - pair[2]).abs().mean()) > 0.01


def test_views_are_the_features_of_an_image_and_its_mirror_image_at_every_size() -> None:
    images = pictures(Draws(3), 2, 32)
    found = eye_views(images, sides=(32, 16), at_once=1)
    assert found.shape == (2, 4, 12096)
    small = images.unflatten(3, (16, 2)).mean(4).unflatten(2, (16, 2)).mean(3)
    torch.testing.assert_close(found[:, 0], eye_features(images).flatten(1), atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found[:, 1], eye_features(images.flip(3)).flatten(1), atol=1e-4, rtol=1e-4)
    likeness = torch.nn.functional.cosine_similarity(found[:, 2], eye_features(small).flatten(1))
    assert float(likeness.min()) > 0.9
    assert eye_views(images[:1], sides=(16,), kind=torch.float16).dtype is torch.float16


@pytest.mark.parametrize("shape", [(2, 1, 32, 32), (2, 3, 8, 8), (3, 32, 32)])
def test_images_of_another_shape_are_refused(shape: tuple[int, ...], eyes: Eyes) -> None:
    with pytest.raises(InvalidArgument, match="records, 3, side, side"):
        eyes(torch.rand(shape))


def test_the_loss_is_its_formula() -> None:
    rows = torch.randn(6, 5, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    unit = (rows / rows.norm(dim=1, keepdim=True)).float()
    expected = 0.0
    for own in range(6):
        partner = (own + 3) % 6
        others = sum(math.exp(float(unit[own] @ unit[k]) / 0.5) for k in range(6) if k not in (own, partner))
        expected += (math.log(others) - float(unit[own] @ unit[partner]) / 0.5) / 6
    assert float(contrast_loss(rows, temperature=0.5)) == pytest.approx(expected, rel=1e-5)


def test_two_views_of_pictures_are_brought_together() -> None:
    draws = Draws(2)
    found = pictures(draws, 16, 48)
    both = torch.cat([view(draws, found, light=0.4) for _ in range(2)])
    torch.manual_seed(0)
    learner = Learner(Stages(SMALL, blocks=1), hidden=32, outputs=16)
    optimiser = torch.optim.AdamW(learner.parameters(), lr=5e-3)
    losses = []
    for _ in range(15):
        loss = contrast_loss(learner(both), temperature=0.2)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < losses[0] - 1


def test_on_a_cpu_a_seed_gives_its_weights_again() -> None:
    def weights(seed: int) -> torch.Tensor:
        settings = Pretraining(
            seconds=1e9, seed=seed, batch=4, pool=8, side=32, widths=SMALL, blocks=1, steps=3, uses=2
        )
        return torch.cat([each.flatten() for each in pretrain(settings, torch.device("cpu")).parameters()])

    first, again, other = (weights(seed) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_the_program_writes_weights_that_give_features(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "small.pt"
    asked = ["--steps", "2", "--batch", "4", "--pool", "4", "--widths", "4", "8", "8", "--out", str(out)]
    main(asked)
    assert str(out) in capsys.readouterr().out
    state = torch.load(out, weights_only=True)
    assert all(each.dtype is torch.float16 for each in state.values())
    small = module.from_half_state(state, Stages(SMALL), positions=2)
    assert small(torch.rand(1, 3, 32, 32)).shape == (1, 40, 2, 2)
    assert bool((small.scale >= module.SCALE_FLOOR * 0.99).all())


def test_a_private_head_over_eyes_learns_textures(eyes: Eyes) -> None:
    """Pictures with and without fine noise over them: 60 of each are enough at a generous ε."""
    draws = Draws(11)
    images = pictures(draws, 120, 16)
    labels = torch.arange(120) % 2
    images = (images + 0.3 * labels[:, None, None, None] * draws.normal(120, 3, 16, 16)).clamp(0, 1)
    features = eye_features(images).flatten(1)
    book = bruit.Ledger("eyes", epsilon=8.0, delta=1e-3, neighbours=bruit.ADD_OR_REMOVE_ONE, person=bruit.EACH_ROW)
    head = train_head(
        features[:80],
        labels[:80],
        Recipe(20, 8, 0.2),
        classes=2,
        budget=book.budget(epsilon=8.0, delta=1e-3),
        channels=eyes.channels,
        rng=np.random.default_rng(5),
    )
    right = (head.value(features[80:]).argmax(1) == labels[80:]).float().mean()
    assert float(right) > 0.9
