"""A plan of operators that never let one person's rows see another's."""
