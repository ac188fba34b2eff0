"""Private principal components from a noisy covariance."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.learning.estimator.contract import PrivateEstimator
from bruit.learning.linear_models._design import STEPS, Design, own_units, weighted_sum
from bruit.learning.linear_models._moments import Products, noisy_products, product_entries, with_ones
from bruit.mechanisms import buy_vectors

Floats = NDArray[np.float64]


class PCA(ClassNamePrefixFeaturesOutMixin, TransformerMixin, PrivateEstimator):  # type: ignore[misc]
    """The directions of largest variance, in the columns' own units, from a covariance matrix noised once.

    One person moves every sum of products of columns scaled to [-1, 1] by at most one; eigenvectors of the noisy
    covariance are post-processing.                                       [Dwork et al. 2014, Analyze Gauss]
    """

    def __init__(
        self,
        n_components: Any = None,
        *,
        domain: Any = None,
        size: Any = None,
        rows_per_person: int = 1,
        budget: Any = None,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.domain = domain
        self.size = size
        self.rows_per_person = rows_per_person
        self.budget = budget
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None, groups: Any = None) -> PCA:
        """Fits the components; `groups` names the person behind each row where people have several rows."""
        del y
        question = self._ask(X, groups=groups)
        self._design = None if question.domains is None else Design(question.domains, first=0)
        if question.price is None or self._design is None:
            rows = own_units(question.pay(None).values, self._design)
            centred = rows - rows.mean(axis=0)
            return self._solve(rows.mean(axis=0), centred.T @ centred / max(len(rows) - 1, 1))
        design = self._design
        self._component_count(design.columns)
        entries = product_entries(design.columns + 1, public_size=question.size is not None)
        noise = buy_vectors(question.price, entries=entries, each=STEPS**2, rows_changed=question.rows_changed)
        records = question.pay(noise.loss)
        rows_of_ones = with_ones(design.integers(records.values))
        mean, covariance = _centre(noisy_products(rows_of_ones, noise, size=question.size, rng=records.rng))
        in_units = covariance * np.outer(design.widths, design.widths)
        return records.finish(self._solve(design.centres + design.widths * mean, in_units))

    def _solve(self, mean: Floats, covariance: Floats) -> PCA:
        """The eigenvectors of largest eigenvalue, each with its largest entry positive."""
        most = len(mean)
        kept = self._component_count(most)
        values, vectors = np.linalg.eigh(covariance)
        values, vectors = np.maximum(values[::-1], 0), vectors[:, ::-1].T
        signs = np.sign(vectors[np.arange(most), np.argmax(np.abs(vectors), axis=1)])
        self.components_ = (vectors * np.where(signs == 0, 1, signs)[:, None])[:kept]
        self.explained_variance_ = values[:kept]
        self.explained_variance_ratio_ = values[:kept] / max(values.sum(), 1e-300)
        self.mean_, self.n_components_ = mean, kept
        self._n_features_out = kept
        return self

    def _component_count(self, most: int) -> int:
        kept = most if self.n_components is None else whole(self.n_components, "n_components")
        if kept > most:
            raise InvalidArgument(f"n_components={kept} is above the number of columns, {most}")
        return kept

    def transform(self, X: Any) -> Floats:
        """The coordinates of the rows along the components; post-processing of the fit."""
        rows = own_units(self._encode(X), self._design)
        return weighted_sum(rows - self.mean_, self.components_.T)

    def inverse_transform(self, X: Any) -> Floats:
        """The rows in their original columns, from coordinates along the components."""
        return np.asarray(weighted_sum(np.asarray(X, np.float64), self.components_) + self.mean_)


def _centre(products: Products) -> tuple[Floats, Floats]:
    """The mean, within its bounds, and the covariance around it."""
    size = max(products.matrix[0, 0], 1.0)
    mean = np.clip(products.matrix[0, 1:] / size, -1, 1)
    return mean, products.matrix[1:, 1:] / size - np.outer(mean, mean)
