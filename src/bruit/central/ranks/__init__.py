"""Quantiles of a column: values that stand at a given share of the records, without telling where anyone stands."""
