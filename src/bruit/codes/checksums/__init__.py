"""Checksums of cyclic redundancy, for bits and for bytes."""
