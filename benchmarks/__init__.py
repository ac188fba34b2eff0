"""Ours beside the peers: `python -m benchmarks AREA`; README.md tells how to add a case."""
