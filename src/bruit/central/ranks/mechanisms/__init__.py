"""The mechanisms that draw quantiles: exponential over a grid, joint, recursive, and the histogram method."""
