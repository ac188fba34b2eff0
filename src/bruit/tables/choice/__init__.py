"""Which rows of each person count: a limit, a keyed hash and the choice itself."""
