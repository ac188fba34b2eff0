"""Synthetic tables as a steward asks for them: priced in words before payment, published with their statement."""
