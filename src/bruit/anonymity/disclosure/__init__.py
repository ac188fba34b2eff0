"""Disclosure risk of a table as it is: equivalence classes, linkage, identifiers."""
