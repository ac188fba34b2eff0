"""A numpy Generator over a cryptographic source, and samplers that are exact on integers."""

from bruit.randomness.coins import bernoulli, bernoulli_bits, bernoulli_exp
from bruit.randomness.integers import choose, permutation, sample_without_replacement, uniform_below
from bruit.randomness.noise import discrete_gaussian, discrete_laplace, geometric
from bruit.randomness.source import generator, is_strong, words

__all__ = [
    "bernoulli",
    "bernoulli_bits",
    "bernoulli_exp",
    "choose",
    "discrete_gaussian",
    "discrete_laplace",
    "generator",
    "geometric",
    "is_strong",
    "permutation",
    "sample_without_replacement",
    "uniform_below",
    "words",
]
