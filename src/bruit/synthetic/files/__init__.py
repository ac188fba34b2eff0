"""What goes with synthetic rows: a file that keeps all of a table, and the statement of its use."""
