"""Training steps traced whole: torch.compile graphs, CUDA graphs and their device flags."""
