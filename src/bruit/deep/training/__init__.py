"""DP-SGD training: pricing, Poisson batches, checkpoints and process groups."""
