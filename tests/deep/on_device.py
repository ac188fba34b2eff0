"""What the tests of the engine hold, on a GPU and without pytest: `PYTHONPATH=src:tests:. python -m deep.on_device`."""

import sys

import torch
from deep.models import MODELS, each_loss, made
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
    """How far the gradients in float64 are from vmap(grad), relatively."""
    model, inputs, targets = made(case)
    model, inputs, targets = model.cuda(), inputs.cuda(), targets.cuda()
    chosen = {name: p.detach() for name, p in model.named_parameters() if p.requires_grad}
    one = grad(lambda p, x, y: each_loss(functional_call(model, p, (x[None],)), y[None]).sum())
    wanted = vmap(one, in_dims=(None, 0, 0))(chosen, inputs, targets)
    shares = Engine(model, examine(model, (inputs,)), each_loss, 1.0).shares((inputs,), targets)
    return max((s.per_sample().view_as(wanted[n]) - wanted[n]).abs().max().item() for n, s in shares.items())


if __name__ == "__main__":
    sys.stdout.write(f"largest error in float64: {max(map(error, MODELS)):.3g}\n")
    for precision in (None, torch.bfloat16, torch.float16):
        worst = max((largest_share(case, precision, how), case, how.value) for case in MODELS for how in Clipping)
        sys.stdout.write(f"{precision}: largest share of the bound {worst}\n")
