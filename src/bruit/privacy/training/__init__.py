"""Prices of training runs: plans of DP-SGD and of noise that is correlated between steps."""
