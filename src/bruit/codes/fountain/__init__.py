"""Fountain codes: as many packets as the line needs, any sufficient number of which rebuild a file."""
