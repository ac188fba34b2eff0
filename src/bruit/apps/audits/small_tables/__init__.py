"""Checks the sensitivity of every release by brute force over small tables."""
