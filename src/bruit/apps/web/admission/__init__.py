"""Admission by cards: one report a card, by blind signatures, so that nobody learns whose card a report came with."""
