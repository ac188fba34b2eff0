"""Cyclic redundancy checks (CRC), for bits and for bytes."""
