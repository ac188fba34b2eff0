"""Checks that refuse models whose samples could mix: layer types, independence of samples, batch norm."""
