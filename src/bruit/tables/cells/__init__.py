"""Each cell read by a total function of that cell and the schema, in Python and inside each engine."""
