"""y = w · (x − mean)/deviation + b over the last dimensions."""

from torch import Tensor, nn
from torch.nn import functional

from bruit.deep.shares import Kept, Share, wide


def layer_norm(layer: nn.LayerNorm, inputs: Tensor, outputs: Tensor) -> dict[str, Share]:
    """∂w = Σ_t g_t · normalised_t, ∂b = Σ_t g_t."""
    shape = layer.normalized_shape
    outputs = wide(outputs).reshape(len(outputs), -1, *shape)
    shares: dict[str, Share] = {}
    if layer.weight is not None and layer.weight.requires_grad:
        normalised = functional.layer_norm(wide(inputs), shape, eps=layer.eps).reshape(outputs.shape)
        shares["weight"] = Kept((outputs * normalised).sum(1))
    if layer.bias is not None and layer.bias.requires_grad:
        shares["bias"] = Kept(outputs.sum(1))
    return shares
