"""Triton kernels for per-sample gradient norms and sums that torch has no operator for."""
