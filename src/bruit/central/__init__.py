"""Statistics of a table behind one curator, each paid from a budget."""

__all__: list[str] = []
