"""One task on a table that was published in several ways."""
