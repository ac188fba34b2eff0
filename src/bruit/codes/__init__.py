"""Check digits and error-correcting codes that run over any channel."""

__all__: list[str] = []
