"""The command line, the web application, plots, data loaders and studies; no mathematics here."""

__all__: list[str] = []
