"""Integer expressions over the columns of a row, compiled for each engine."""
