"""PyTorch training with DP-SGD."""

__all__: list[str] = []
