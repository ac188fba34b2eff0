"""Plans of relational operators that never mix the rows of different people."""
