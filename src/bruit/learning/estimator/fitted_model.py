"""What a fitted model offers once it is paid for: its guarantee, pickling, saving, and its model card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from bruit.core.guarantee import Guarantee
from bruit.core.release import Release
from bruit.learning.estimator.unpaid_scores import mark_choice, record_departure, record_fit

if TYPE_CHECKING:
    from bruit.learning.publishing import ModelCard


class FittedModel(BaseEstimator):  # type: ignore[misc]
    """The part of a private estimator that concerns a finished fit: release, guarantee, pickling, model card."""

    kinds: ClassVar[dict[str, type[FittedModel]]] = {}
    _stays_behind: ClassVar[frozenset[str]] = frozenset({"budget", "random_state"})
    _release: Release[Any] | None

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        FittedModel.kinds[cls.__name__] = cls

    @property
    def release_(self) -> Release[Self]:
        """The fit as a `Release` whose value is this estimator; available once a paid fit has finished."""
        kept, promised = getattr(self, "_release", None), vars(self).get("guarantee_")
        if kept is None or promised is None:
            raise AttributeError(f"{type(self).__name__} has no release_: it is not fitted, or without privacy")
        return replace(kept, value=self, guarantee=mark_choice(promised, self))

    @property
    def guarantee_(self) -> Guarantee | None:
        """The fit's privacy guarantee (None without privacy), marked where unpaid scores may have guided a choice."""
        if "guarantee_" not in vars(self):
            raise AttributeError(f"{type(self).__name__} has no guarantee_: it is not fitted")
        kept: Guarantee | None = vars(self)["guarantee_"]
        return None if kept is None else mark_choice(kept, self)

    @guarantee_.setter
    def guarantee_(self, guarantee: Guarantee | None) -> None:
        self.__dict__["guarantee_"] = guarantee

    @guarantee_.deleter
    def guarantee_(self) -> None:
        del self.__dict__["guarantee_"]

    def _keep_release(self, release: Release[Any]) -> None:
        """Keeps a release but for its value: a pickle holds no cycle, and a copy is its own value."""
        self._release = replace(release, value=None)
        record_fit(self)

    def __getstate__(self) -> dict[str, Any]:
        """The pickled state of a fitted model, without its ledger, its seed and any given rows.

        A book in memory could not travel, the address of a stored one must not, and from a seed the noise can be drawn
        again. An estimator that is not fitted keeps its budget: folds that other processes fit are paid from one book.
        """
        state: dict[str, Any] = super().__getstate__()
        if state.get("guarantee_") is None:
            record_departure(self)
            return state
        return {**state, **dict.fromkeys(self._stays_behind), "guarantee_": self.guarantee_}

    def save(self, path: str | Path, *, intended_use: str = "", figures: Sequence[Release[Any]] = ()) -> Path:
        """Writes the fitted model and its card to one file without pickle; `bruit.learning.load` reads it anywhere.

        The file holds no book, no address of a store, no seed and no rows. `figures` are releases, as
        `learning.evaluate` gives them.
        """
        from bruit.learning.publishing import save

        return save(self, path, intended_use=intended_use, figures=figures)

    def card(self, *, intended_use: str = "", figures: Sequence[Release[Any]] = ()) -> ModelCard:
        """The model card: domain, guarantee in words, privacy paid, intended use, and figures with intervals."""
        from bruit.learning.publishing.card import make_card

        check_is_fitted(self)
        return make_card(self, intended_use=intended_use, figures=figures)
