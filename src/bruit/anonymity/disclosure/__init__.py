"""What a table gives away as it stands: equivalence classes, risks, identifiers."""
