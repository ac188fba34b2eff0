"""Where a study computes."""

import torch


def best_device() -> torch.device:
    """A CUDA card where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
