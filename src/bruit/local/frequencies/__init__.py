"""Frequency protocols: how a respondent randomises one answer out of a list of categories."""
