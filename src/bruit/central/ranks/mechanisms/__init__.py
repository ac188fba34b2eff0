"""The mechanisms that draw quantiles: exponential on a grid, joint, recursive, and histogram."""
