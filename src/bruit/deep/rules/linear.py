"""y = x Wᵀ + b, over any leading dimensions."""

from torch import Tensor, nn

from bruit.deep.shares import Kept, Products, Share, wide


def linear(layer: nn.Linear, inputs: Tensor, outputs: Tensor) -> dict[str, Share]:
    """∂W = Σ_t g_t x_tᵀ, ∂b = Σ_t g_t."""
    inputs, outputs = (values.reshape(len(values), -1, values.shape[-1]) for values in (inputs, outputs))
    shares: dict[str, Share] = {}
    if layer.weight.requires_grad:
        shares["weight"] = Products(inputs, outputs)
    if layer.bias is not None and layer.bias.requires_grad:
        shares["bias"] = Kept(wide(outputs).sum(1))
    return shares
