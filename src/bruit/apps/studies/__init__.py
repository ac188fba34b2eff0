"""The studies of the source documents, and the list of audits."""

__all__: list[str] = []
