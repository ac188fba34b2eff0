"""Coarser tables: hierarchies, the full lattice of them, and Mondrian cuts."""
