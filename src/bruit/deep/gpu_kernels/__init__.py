"""Norms and sums that torch has no operator for, on a GPU, in Triton."""
