"""Linear layers, y = x Wᵀ + b, over any leading dimensions."""

from torch import Tensor, nn

from bruit.deep.per_sample.factored_gradients import PerSampleGradients, StoredGradients, products, wide


def linear(
    layer: nn.Module, inputs: Tensor, outputs: Tensor, *, names: tuple[str, str] = ("weight", "bias")
) -> dict[str, PerSampleGradients]:
    """Per-sample gradients ∂W = Σ_t g_t x_tᵀ, ∂b = Σ_t g_t; `names` are the parameter names of matrix and bias."""
    inputs, outputs = (values.reshape(len(values), -1, values.shape[-1]) for values in (inputs, outputs))
    weight, bias = (getattr(layer, name, None) for name in names)
    gradients: dict[str, PerSampleGradients] = {}
    if weight is not None and weight.requires_grad:
        gradients[names[0]] = products(inputs, outputs)
    if bias is not None and bias.requires_grad:
        gradients[names[1]] = StoredGradients(wide(outputs).sum(1))
    return gradients
