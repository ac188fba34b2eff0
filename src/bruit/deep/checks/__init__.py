"""Refuses models whose samples could mix: structure, independence of samples, batch norm."""
