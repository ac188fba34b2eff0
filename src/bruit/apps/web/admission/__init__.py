"""Admission cards: one report per card by blind signatures, so that no report can be linked to a card."""
