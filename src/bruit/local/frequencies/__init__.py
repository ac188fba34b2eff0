"""Frequency protocols: what one respondent sends of one answer out of a list."""
