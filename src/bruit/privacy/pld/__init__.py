"""Privacy loss distributions: dominating pairs, discretised, convolved and read back as epsilon."""
