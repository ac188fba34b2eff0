"""Writes opacus_vectors.json beside this file: `python opacus_vectors.py` where opacus 1.6.0 is installed."""

import json
from pathlib import Path
from typing import Any

import opacus
import torch
from opacus import GradSampleModule
from opacus.optimizers import DPOptimizer
from opacus_vectors_networks import NETWORKS  # type: ignore[import-not-found]
from torch import nn

CLIP, BATCH, SEED = 0.5, 4, 11

INPUTS = {
    "images": lambda: torch.randn(BATCH, 1, 6, 6, dtype=torch.float64),
    "words": lambda: torch.randint(5, (BATCH, 4)),
    "signals": lambda: torch.randn(BATCH, 2, 5, dtype=torch.float64),
}


def vectors(name: str) -> dict[str, Any]:
    torch.manual_seed(SEED)
    model, inputs, targets = NETWORKS[name]().double(), INPUTS[name](), torch.randint(3, (BATCH,))
    state = {key: value.tolist() for key, value in model.state_dict().items()}
    hooked = GradSampleModule(model)
    inner = torch.optim.SGD(hooked.parameters(), lr=0.0)
    optimiser = DPOptimizer(inner, noise_multiplier=0.0, max_grad_norm=CLIP, expected_batch_size=BATCH)
    nn.functional.cross_entropy(hooked(inputs), targets).backward()
    each = {key: p.grad_sample.tolist() for key, p in model.named_parameters()}
    optimiser.pre_step()
    means = {key: p.grad.tolist() for key, p in model.named_parameters()}
    given = {"state": state, "inputs": inputs.tolist(), "targets": targets.tolist()}
    return given | {"per_sample": each, "clipped_mean": means}


if __name__ == "__main__":
    made = {"opacus": opacus.__version__, "torch": torch.__version__, "clip": CLIP, "seed": SEED}
    text = json.dumps(made | {"networks": {name: vectors(name) for name in NETWORKS}})
    Path(__file__).with_suffix(".json").write_text(text + "\n")
