"""The `batch_axis` rule of each ATen operation; an operation without a rule is taken to mix the samples it reads."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

import torch

from bruit.deep.checks import batch_axis as axis
from bruit.deep.checks import moved_axes as moved
from bruit.deep.checks.batch_axis import Rule

_SAME_SHAPE = (
    "alias clone contiguous detach lift_fresh_copy _to_copy masked_fill where _prelu_kernel "
    "threshold_backward gelu_backward silu_backward tanh_backward sigmoid_backward elu_backward hardtanh_backward "
    "leaky_relu_backward hardswish_backward hardsigmoid_backward softplus_backward mish_backward logit_backward "
    "log_sigmoid_backward native_dropout_backward smooth_l1_loss_backward mse_loss_backward huber_loss_backward "
    "binary_cross_entropy_backward"
)
_ALONG_AXES = (
    "sum mean amax amin all any prod argmax argmin logsumexp var std linalg_vector_norm norm cumsum cumprod flip roll "
    "glu count_nonzero _softmax _safe_softmax _log_softmax"
)
_ALONG_AXES_SEVERAL = "max min sort topk kthvalue median mode var_mean std_mean cummax cummin"
_IMAGES = (
    "convolution _convolution mkldnn_convolution cudnn_convolution avg_pool1d avg_pool2d avg_pool3d "
    "_adaptive_avg_pool2d "
    "_adaptive_avg_pool3d adaptive_avg_pool1d avg_pool2d_backward avg_pool3d_backward _adaptive_avg_pool2d_backward "
    "_adaptive_avg_pool3d_backward max_pool2d_with_indices_backward max_pool3d_with_indices_backward "
    "adaptive_max_pool2d_backward upsample_nearest1d upsample_nearest2d upsample_nearest3d upsample_bilinear2d "
    "upsample_bicubic2d upsample_linear1d upsample_nearest2d_backward upsample_bilinear2d_backward reflection_pad1d "
    "reflection_pad2d replication_pad1d replication_pad2d reflection_pad1d_backward reflection_pad2d_backward "
    "replication_pad1d_backward replication_pad2d_backward pixel_shuffle pixel_unshuffle im2col col2im "
    "nll_loss_backward nll_loss2d_backward native_channel_shuffle"
)
_IMAGES_SEVERAL = "max_pool2d_with_indices max_pool3d_with_indices adaptive_max_pool2d native_group_norm"
_ATTENTION = (
    "_scaled_dot_product_flash_attention_for_cpu _scaled_dot_product_flash_attention_for_cpu_backward "
    "_scaled_dot_product_attention_math"
)
_BATCH_NORMS = "native_batch_norm _native_batch_norm_legit_no_training cudnn_batch_norm native_batch_norm_backward"
_EVEN = "zeros ones full zeros_like ones_like full_like new_zeros new_ones new_full scalar_tensor"
_DRAWN = "rand randn rand_like randn_like randint randint_like uniform normal_functional exponential"
_UNDEFINED = "empty empty_like new_empty empty_strided new_empty_strided"


def _softmax_backward(step: axis.Step) -> axis.State:
    """The gradient through a softmax, along an axis that is not the samples'."""
    found = axis.elementwise(step)
    place = step.argument("dim") % len(step.shape(0))
    return axis.MIXED if isinstance(found, axis.Axis) and found.place == place else found


def _dropout(step: axis.Step) -> Any:
    """A draw for every number of every sample."""
    state = step.state(0)
    return (state if isinstance(state, axis.Axis) else axis.FIXED,) * 2


def _bernoulli(step: axis.Step) -> axis.State:
    """Draws of one probability, or of the probabilities that are given."""
    return axis.elementwise(step) if step.argument("p") is None else axis.DRAWN


def _undefined(_step: axis.Step) -> axis.State:
    return axis.MIXED


def _by_kind() -> dict[str, Rule]:
    """Operations of which many follow one rule."""
    return {
        **dict.fromkeys(_SAME_SHAPE.split(), axis.elementwise),
        **dict.fromkeys(_ALONG_AXES.split(), axis.over(axis.named_axes)),
        **dict.fromkeys(_ALONG_AXES_SEVERAL.split(), _several_or_one(axis.over(axis.named_axes))),
        **dict.fromkeys(_IMAGES.split(), axis.first_axis),
        **dict.fromkeys(_IMAGES_SEVERAL.split(), moved.several(axis.first_axis)),
        **dict.fromkeys(_ATTENTION.split(), axis.attention),
        **dict.fromkeys(_EVEN.split(), axis.even),
        **dict.fromkeys(_DRAWN.split(), axis.drawn),
        **dict.fromkeys(_UNDEFINED.split(), _undefined),
        **dict.fromkeys(("view", "reshape", "_unsafe_view", "_reshape_alias"), axis.reshape),
        **dict.fromkeys(("slice", "narrow"), moved.cut),
        **dict.fromkeys(("split", "unsafe_split", "split_with_sizes", "chunk"), moved.several(_cut_several)),
        **dict.fromkeys(("select_backward", "slice_backward"), axis.put_back),
        **dict.fromkeys(_BATCH_NORMS.split(), axis.batch_norm),
        **dict.fromkeys(("gather", "scatter", "scatter_add"), axis.along_axis),
        **dict.fromkeys(("nll_loss_forward", "nll_loss2d_forward"), axis.negative_log_likelihood),
        **dict.fromkeys(("convolution_backward", "native_group_norm_backward"), axis.only_first(axis.first_axis)),
        **dict.fromkeys(("_softmax_backward_data", "_log_softmax_backward_data"), _softmax_backward),
        **dict.fromkeys(("transpose", "t"), moved.transpose),
    }


def _by_name() -> dict[str, Rule]:
    """Operations that have a rule of their own."""
    return {
        "permute": moved.permute,
        "unsqueeze": moved.unsqueeze,
        "squeeze": moved.squeeze,
        "expand": moved.expand,
        "repeat": axis.repeat,
        "select": moved.select,
        "unbind": moved.several(moved.select),
        "cat": moved.concatenate,
        "stack": moved.stack,
        "mm": moved.product(0, 1),
        "addmm": moved.product(1, 2),
        "bmm": moved.product(0, 1, batched=True),
        "baddbmm": moved.product(1, 2, batched=True),
        "mv": moved.product(0, 1),
        "embedding": axis.lookup,
        "index": axis.index,
        "constant_pad_nd": axis.over(axis.padded_axes),
        "native_layer_norm": axis.layer_norm,
        "native_layer_norm_backward": axis.layer_norm_backward,
        "native_dropout": _dropout,
        "bernoulli": _bernoulli,
        "copy": axis.overwrite,
        "_prelu_kernel_backward": axis.only_first(axis.elementwise),
    }


def _several_or_one(rule: Rule) -> Rule:
    """Along one axis there are values and places; over all numbers there is one."""
    return lambda step: moved.several(rule)(step) if isinstance(step.node.meta["val"], tuple | list) else rule(step)


def _cut_several(step: axis.Step) -> axis.State:
    state = step.state(0)
    if not isinstance(state, axis.Axis):
        return state
    return axis.MIXED if step.argument("dim") % len(step.shape(0)) == state.place else state


RULES: Final[Mapping[str, Rule]] = MappingProxyType(_by_kind() | _by_name())


def rule_of(target: Any) -> Rule | None:
    """The rule of an ATen operation by its name, or the elementwise rule where torch tags it as pointwise."""
    if not isinstance(target, torch._ops.OpOverload) or target.namespace != "aten":
        return None
    found = RULES.get(target._schema.name.removeprefix("aten::"))
    if found is None and torch.Tag.pointwise in target.tags:
        return axis.elementwise
    return found
