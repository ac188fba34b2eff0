"""The device on which a study computes: a CUDA card or the CPU."""

import torch


def best_device() -> torch.device:
    """A CUDA card where there is one, otherwise the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")
