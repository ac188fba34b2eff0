"""scikit-learn estimators that spend from a ledger, and estimators that know their channel."""

__all__: list[str] = []
