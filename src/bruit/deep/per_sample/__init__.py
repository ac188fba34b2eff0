"""Per-sample gradient norms and clipped sums from one backward pass (ghost clipping)."""
