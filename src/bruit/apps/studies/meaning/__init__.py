"""What ε means: beliefs, the laws of noise, and who must be trusted."""
