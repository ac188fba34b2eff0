"""Prices of training runs: plans of DP-SGD and of training with noise correlated between steps."""
