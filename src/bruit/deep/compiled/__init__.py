"""Training steps traced as one graph: torch.compile, CUDA graphs, and the flags that a GPU writes for the CPU."""
