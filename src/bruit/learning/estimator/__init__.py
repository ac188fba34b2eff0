"""The contract of every private estimator: what it asks, how it pays, how it reads its records."""
