"""Scales, encodes and imputes columns by their public domains, which learns nothing and costs nothing."""

from __future__ import annotations

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from bruit.core.arguments import whole
from bruit.errors import InvalidArgument
from bruit.learning.estimator.public_question import require_rows, require_schema
from bruit.learning.estimator.records import Domains, encode_rows, resolve_domains
from bruit.tables import Among, Domain, Within, within

Categories = Literal["one-hot", "ordinal"]
STEPS = 1 << 20
"""Grid steps of a scaled number, so that a model behind may state the domain of what it is given."""


class DomainEncoder(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Scales numbers to [-1, 1] or bins, and one-hot encodes categories, by domains stated before the data is seen.

    Where StandardScaler, OneHotEncoder, KBinsDiscretizer and SimpleImputer read the rows, this reads `domain` alone: a
    pipeline before a private model stays within its budget. Values outside are clamped, a missing number takes what its
    domain states (the middle of the bounds where it states none), an unknown or missing category is OTHER.

    domain       one domain for all columns, a sequence, or a mapping by name for frames
    categories   "one-hot": an indicator a category, of which the others are zero; "ordinal": its number
    bins         numbers become the number of one of so many equal parts of their bounds, instead of being scaled

    `domain_out_` states the domains of what comes out, for the model behind.
    """

    def __init__(
        self, *, domain: Domains | None = None, categories: Categories = "one-hot", bins: int | None = None
    ) -> None:
        self.domain = domain
        self.categories = categories
        self.bins = bins

    def fit(self, X: Any, y: Any = None) -> Self:
        """Reads the names and the number of the columns, and no value."""
        del y
        require_rows(X=X)
        require_schema(self, X, None, reset=True)
        if self.domain is None:
            raise InvalidArgument("DomainEncoder needs domain=: bounds and categories known before seeing the data")
        if self.categories not in ("one-hot", "ordinal"):
            raise InvalidArgument(f"categories={self.categories!r}: choose one-hot or ordinal")
        if self.bins is not None:
            whole(self.bins, "bins", least=2)
        self._domains = resolve_domains(self.domain, X, self.n_features_in_)
        self.domain_out_ = tuple(out for domain in self._domains for out in self._domains_of(domain))
        self._n_features_out = len(self.domain_out_)
        return self

    def transform(self, X: Any) -> NDArray[np.float64]:
        """The encoded columns as numbers, with every row kept."""
        check_is_fitted(self)
        require_rows(X=X)
        require_schema(self, X, None, reset=False)
        integers, _ = encode_rows(X, self._domains)
        parts = [self._columns(integers[:, place], domain) for place, domain in enumerate(self._domains)]
        return np.column_stack(parts).astype(np.float64)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[Any]:
        """The output column names: the feature, followed by the category where it is one-hot encoded."""
        check_is_fitted(self)
        names = getattr(self, "feature_names_in_", None) if input_features is None else input_features
        named = (
            [f"x{place}" for place in range(self.n_features_in_)] if names is None else [str(each) for each in names]
        )
        if len(named) != self.n_features_in_:
            raise InvalidArgument(f"input_features should have length equal to {self.n_features_in_}, got {len(named)}")
        found = [out for name, domain in zip(named, self._domains, strict=True) for out in self._names(name, domain)]
        return np.array(found, object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = tags.input_tags.string = tags.input_tags.categorical = self.domain is not None
        return tags

    def _indicators(self, domain: Domain) -> bool:
        return isinstance(domain, Among) and self.categories == "one-hot"

    def _columns(self, integers: NDArray[np.int64], domain: Domain) -> NDArray[np.float64]:
        if isinstance(domain, Among):
            if not self._indicators(domain):
                return integers[:, None].astype(np.float64)
            return np.asarray(integers[:, None] == np.arange(domain.size), np.float64)
        share = (integers - domain.lowest) / max(domain.highest - domain.lowest, 1)
        if self.bins is not None:
            return np.asarray(np.minimum(np.floor(share * self.bins), self.bins - 1)[:, None])
        return np.asarray(np.rint((2 * share - 1) * STEPS)[:, None] / STEPS)

    def _domains_of(self, domain: Domain) -> list[Domain]:
        if self._indicators(domain):
            return [within(0, 1, grid=1)] * domain.size
        if isinstance(domain, Within) and self.bins is None:
            return [within(-1, 1, grid=f"1/{STEPS}")]
        most = domain.size if isinstance(domain, Among) else int(self.bins or 2)
        return [within(0, max(most - 1, 1), grid=1)]

    def _names(self, name: str, domain: Domain) -> list[str]:
        if isinstance(domain, Among) and self._indicators(domain):
            return [f"{name}={label}" for label in domain.labels]
        return [name]
