"""Models of `transformers`, made from small configurations: their clipped sums are those of one sample at a time."""

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from bruit.core.neighbours import ADD_OR_REMOVE_ONE, EACH_ROW
from bruit.deep import cross_entropy, privatise
from bruit.deep.per_sample.clipping import MARGINS
from bruit.ledger import Ledger

transformers = pytest.importorskip("transformers")

WORDS: dict[str, Any] = {"vocab_size": 30, "num_labels": 3}
CONFIGURATIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "Bert": (
        "BertForSequenceClassification",
        WORDS | {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16},
    ),
    "DistilBert": (
        "DistilBertForSequenceClassification",
        WORDS | {"dim": 8, "n_layers": 1, "n_heads": 2, "hidden_dim": 16},
    ),
    "GPT2": (
        "GPT2ForSequenceClassification",
        WORDS | {"n_embd": 8, "n_layer": 1, "n_head": 2, "n_positions": 16, "pad_token_id": 0},
    ),
    "Llama": (
        "LlamaForSequenceClassification",
        WORDS
        | {"hidden_size": 8, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 16}
        | {"pad_token_id": 0},
    ),
    "ViT": (
        "ViTForImageClassification",
        {"num_labels": 3, "image_size": 8, "patch_size": 4, "hidden_size": 8, "num_hidden_layers": 1}
        | {"num_attention_heads": 2, "intermediate_size": 16},
    ),
}


class Scores(nn.Module):
    """The scores of a model of `transformers`, which gives them in a structure of its own."""

    def __init__(self, model: nn.Module) -> None:
        super().__init__()
        self.model = model

    def forward(self, inputs: Tensor) -> Tensor:
        scores: Tensor = self.model(inputs).logits
        return scores


def made(name: str) -> tuple[Scores, Tensor]:
    """A model in float64 without dropout, and inputs for five samples."""
    torch.manual_seed(5)
    build, settings = CONFIGURATIONS[name]
    configuration = getattr(transformers, f"{name}Config")(**settings, attn_implementation="eager")
    model = Scores(getattr(transformers, build)(configuration)).double().eval()
    words = torch.randint(1, 30, (5, 6))
    return model, torch.randn(5, 3, 8, 8, dtype=torch.float64) if name == "ViT" else words


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_a_step_adds_the_clipped_gradients_of_samples_taken_one_by_one(name: str) -> None:
    model, inputs = made(name)
    targets, bound = torch.arange(5) % 3, 0.1
    book = Ledger("words", epsilon=9.0, delta=1e-3, neighbours=ADD_OR_REMOVE_ONE, person=EACH_ROW)
    optimiser = torch.optim.SGD(model.parameters(), lr=0.1)
    budget = book.budget(epsilon=9.0, delta=1e-3)
    training = privatise(model, optimiser, (inputs, targets), budget=budget, epochs=1, batch_size=2, clip=bound)
    found = training.engine.clipped_sum((inputs,), targets, torch.ones(5, dtype=torch.float64))
    named = dict(model.named_parameters())
    wanted = {each: torch.zeros_like(parameter) for each, parameter in named.items()}
    for row in range(5):
        own = slice(row, row + 1)
        loss = cross_entropy(model(inputs[own]), targets[own]).sum()
        gradients = torch.autograd.grad(loss, list(named.values()), allow_unused=True)
        given = [torch.zeros_like(p) if g is None else g for g, p in zip(gradients, named.values(), strict=True)]
        norm = torch.cat([each.flatten() for each in given]).norm()
        for each, gradient in zip(named, given, strict=True):
            wanted[each] += gradient * min(1.0, bound / (1 + MARGINS[torch.float64]) / float(norm))
    for each, total in wanted.items():
        torch.testing.assert_close(found.get(each, torch.zeros_like(total)), total, rtol=1e-6, atol=1e-9)
