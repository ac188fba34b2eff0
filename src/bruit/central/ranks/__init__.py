"""Private quantiles of a column."""
