"""The books themselves: in memory or in a database, their entries, totals and kept releases."""
