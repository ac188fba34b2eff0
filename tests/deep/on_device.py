"""What the tests of the engine hold, on a GPU and without pytest: `PYTHONPATH=src:tests:. python -m deep.on_device`."""

import copy
import sys
from itertools import pairwise

import torch
from deep.models import MODELS, each_loss, made
from torch import Tensor, nn
from torch.func import functional_call, grad, vmap

from bruit.deep import Clipping, Engine, examine


def largest_share(case: str, precision: torch.dtype | None, how: Clipping) -> float:
    """The most that one sample alone adds, over the bound."""
    model, inputs, targets = made(case, dtype=torch.float32)
    model, inputs, targets = model.cuda(), inputs.cuda(), targets.cuda()
    engine = Engine(model, examine(model, (inputs,)), each_loss, 0.01, how, precision)
    norms = []
    for alone in torch.eye(5, device="cuda"):
        found = engine.clipped_sum((inputs,), targets, alone)
        norms.append(torch.cat([g.flatten() for g in found.values()]).double().norm().item() / 0.01)
    return max(norms)


def error(case: str) -> float:
    """How far the gradients in float64 are from vmap(grad) on the CPU, which packs no recurrent weights."""
    model, inputs, targets = made(case)
    chosen = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
    wanted = _oracle(model, chosen, inputs, targets)
    model, inputs, targets = model.cuda(), inputs.cuda(), targets.cuda()
    shares = Engine(model, examine(model, (inputs,)), each_loss, 1.0).per_sample_gradients((inputs,), targets)
    return max((s.per_sample().cpu().view_as(wanted[n]) - wanted[n]).abs().max().item() for n, s in shares.items())


def _oracle(model: nn.Module, chosen: dict[str, Tensor], inputs: Tensor, targets: Tensor) -> dict[str, Tensor]:
    one = grad(lambda p, x, y: each_loss(functional_call(model, p, (x[None],)), y[None]).sum())
    try:
        return vmap(one, in_dims=(None, 0, 0))(chosen, inputs, targets)
    except RuntimeError:  # a projected LSTM
        each = [one(chosen, x, y) for x, y in zip(inputs, targets, strict=True)]
        return {name: torch.stack([found[name] for found in each]) for name in chosen}


class Images(nn.Module):
    """Square convolutions, norms and a view, large enough for every kernel."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(
            nn.Conv2d(3, 16, 3, padding=1),
            nn.GroupNorm(4, 16),
            nn.ReLU(),
            nn.Conv2d(16, 64, 3, 2, 1),
            nn.ReLU(),
            nn.Conv2d(64, 128, 3, 2, 1),
            nn.GroupNorm(4, 128),
            nn.ReLU(),
            nn.Conv2d(128, 64, 1),
        )
        self.out = nn.Linear(64, 3)

    def forward(self, image: Tensor) -> Tensor:
        return self.out(self.net(image).mean((2, 3)))


class Words(nn.Module):
    """Linear layers over many positions, which are measured by the products between them."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(96, 256), nn.GELU(), nn.LayerNorm(256), nn.Linear(256, 96))
        self.out = nn.Linear(96, 3)

    def forward(self, values: Tensor) -> Tensor:
        return self.out(self.net(values).mean(1))


LARGE = {"images": (Images, (3, 32, 32)), "words": (Words, (70, 96))}


def recorded(case: str, precision: torch.dtype | None) -> tuple[float, float, bool]:
    """Of a recorded step: its distance from the eager one, the most one sample adds, and whether NaN is left out.

    Batches differ from call to call, and between two calls the parameters move.
    """
    torch.manual_seed(5)
    build, shape = LARGE[case]
    model, size = build().cuda(), 6
    targets = (torch.arange(size) % 3).cuda()
    structure = examine(model, (torch.randn(size, *shape).cuda(),))
    eager = Engine(model, structure, each_loss, 0.5, precision=precision)
    played = Engine(model, structure, each_loss, 0.5, precision=precision, compiled=True)
    apart, most = 0.0, 0.0
    for turn in range(5):
        inputs = torch.randn(size, *shape).cuda()
        weights = torch.ones(size).cuda() if turn % 2 == 0 else torch.eye(size)[turn % size].cuda()
        found, wanted = (_flat(each.clipped_sum((inputs,), targets, weights)) for each in (played, eager))
        apart = max(apart, ((found - wanted).norm() / wanted.norm()).item())
        most = max(most, found.norm().item() / 0.5) if turn % 2 else most
        with torch.no_grad():
            for number, parameter in enumerate(model.parameters()):
                if turn == 3 and number == 0:
                    parameter.data = parameter.data.clone()  # elsewhere in memory
                parameter.mul_(0.9)
    inputs[2] = torch.nan
    others = torch.ones(size).cuda()
    others[2] = 0
    found = _flat(played.clipped_sum((inputs,), targets, torch.ones(size).cuda()))
    inputs[2] = 0
    wanted = _flat(eager.clipped_sum((inputs,), targets, others))
    again = _flat(played.clipped_sum((inputs,), targets, others))
    left_out = all(((each - wanted).norm() / wanted.norm()).item() < 0.05 for each in (found, again))
    return apart, most, left_out


def owners_apart(precision: torch.dtype | None) -> float:
    """How far recorded sums of owners with three images each are from autograd's, owner by owner in float64."""
    torch.manual_seed(5)
    model, rows, owners, bound = Images().cuda(), 3, 4, 0.5
    inputs, targets = torch.randn(rows * owners, 3, 32, 32).cuda(), (torch.arange(rows * owners) % 3).cuda()
    engine = Engine(model, examine(model, (inputs,)), each_loss, bound, precision=precision, compiled=True)
    for _ in range(3):
        found = engine.clipped_sum((inputs,), targets, torch.ones(owners).cuda())
    assert all(step.is_recorded for step in engine.graphs.steps)
    exact = copy.deepcopy(model).double()
    named = dict(exact.named_parameters())
    wanted = {name: torch.zeros_like(each) for name, each in named.items()}
    for owner in range(owners):
        own = slice(owner * rows, (owner + 1) * rows)
        losses = each_loss(exact(inputs[own].double()), targets[own])
        each = torch.autograd.grad(losses.mean(), list(named.values()))
        norm = torch.cat([part.flatten() for part in each]).norm()
        for name, part in zip(named, each, strict=True):
            wanted[name] += part * (bound / norm).clamp(max=1)
    return ((_flat(found) - _flat(wanted)).norm() / _flat(wanted).norm()).item()


def draws_anew() -> bool:
    """Whether dropout in a recorded step draws other units at every call."""
    torch.manual_seed(5)
    model = nn.Sequential(nn.Linear(96, 64), nn.Dropout(0.5), nn.Linear(64, 3)).cuda()
    inputs, targets = torch.randn(6, 96).cuda(), (torch.arange(6) % 3).cuda()
    engine = Engine(model, examine(model, (inputs,)), each_loss, 0.5, compiled=True)
    found = [_flat(engine.clipped_sum((inputs,), targets, torch.ones(6).cuda())) for _ in range(5)]
    assert all(step.is_recorded for step in engine.graphs.steps)
    return all(not torch.equal(one, other) for one, other in pairwise(found))


def _flat(sums: dict[str, Tensor]) -> Tensor:
    return torch.cat([each.flatten() for _, each in sorted(sums.items())]).double()


if __name__ == "__main__":
    sys.stdout.write(f"largest error in float64: {max(map(error, MODELS)):.3g}\n")
    for precision in (None, torch.bfloat16, torch.float16):
        worst = max((largest_share(case, precision, how), case, how.value) for case in MODELS for how in Clipping)
        sys.stdout.write(f"{precision}: largest share of the bound {worst}\n")
    for case in LARGE:
        for precision in (None, torch.bfloat16):
            sys.stdout.write(f"recorded {case} in {precision}: {recorded(case, precision)}\n")
    for precision in (None, torch.bfloat16):
        sys.stdout.write(f"owners of three images in {precision}: off by {owners_apart(precision):.3g}\n")
    sys.stdout.write(f"dropout draws anew: {draws_anew()}\n")
