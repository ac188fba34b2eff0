"""y = w · (x − mean)/deviation + b with mean and deviation over groups of channels."""

from torch import Tensor, nn
from torch.nn import functional

from bruit.deep.shares import Kept, Share, wide


def group_norm(layer: nn.GroupNorm, inputs: Tensor, outputs: Tensor) -> dict[str, Share]:
    """∂w = Σ_t g_t · normalised_t, ∂b = Σ_t g_t, for every channel."""
    outputs = wide(outputs).reshape(*outputs.shape[:2], -1)
    shares: dict[str, Share] = {}
    if layer.weight is not None and layer.weight.requires_grad:
        normalised = functional.group_norm(wide(inputs), layer.num_groups, eps=layer.eps).reshape(outputs.shape)
        shares["weight"] = Kept((outputs * normalised).sum(2))
    if layer.bias is not None and layer.bias.requires_grad:
        shares["bias"] = Kept(outputs.sum(2))
    return shares
