"""One DP-SGD training: its price, its Poisson batches, its checkpoints and its processes."""
