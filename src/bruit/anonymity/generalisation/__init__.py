"""Makes tables coarser: hierarchies, search of the full lattice of levels, and Mondrian."""
