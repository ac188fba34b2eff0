"""Faults planted one by one, to show that the audits and tests catch them."""
