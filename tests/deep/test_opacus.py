"""Gradients that Opacus 1.6.0 found, stored by data/opacus_vectors.py: a second oracle."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from deep.data.opacus_vectors_networks import NETWORKS
from deep.models import each_loss

from bruit.deep import Engine, examine

STORED: dict[str, Any] = json.loads((Path(__file__).parent / "data" / "opacus_vectors.json").read_text())


@pytest.mark.parametrize("name", NETWORKS)
def test_gradients_and_clipped_means_are_those_of_opacus(name: str) -> None:
    stored = STORED["networks"][name]
    model = NETWORKS[name]().double()
    model.load_state_dict({key: torch.tensor(value, dtype=torch.float64) for key, value in stored["state"].items()})
    inputs = torch.tensor(stored["inputs"], dtype=torch.long if name == "words" else torch.float64)
    targets = torch.tensor(stored["targets"])
    engine = Engine(model, examine(model, (inputs,)), each_loss, STORED["clip"])
    for key, share in engine.per_sample_gradients((inputs,), targets).items():
        wanted = torch.tensor(stored["per_sample"][key], dtype=torch.float64)
        torch.testing.assert_close(share.per_sample().view_as(wanted), wanted, rtol=1e-10, atol=1e-12)
    found = engine.clipped_sum((inputs,), targets, torch.full((len(targets),), 1 / len(targets)))
    for key, value in found.items():
        wanted = torch.tensor(stored["clipped_mean"][key], dtype=torch.float64)
        # Opacus divides by the norm and 1e-6.
        torch.testing.assert_close(value.view_as(wanted), wanted, rtol=1e-5, atol=1e-7)
