"""The contract of private estimators: what a fit asks, how it pays, and how it reads its records."""
