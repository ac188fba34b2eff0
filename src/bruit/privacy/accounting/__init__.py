"""Accountants in closed form: basic composition, zCDP, Rényi and the sampled Gaussian."""
