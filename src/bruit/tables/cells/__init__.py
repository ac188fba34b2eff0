"""Reads each cell by a function of that cell and the schema alone, defined for every input, on every engine."""
