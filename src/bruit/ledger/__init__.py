"""The book of one data set: it refuses to overspend."""

__all__: list[str] = []
