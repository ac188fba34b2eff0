"""Shares with intervals from the counts of noised reports."""
