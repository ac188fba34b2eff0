"""Whole-number expressions over the columns of a row, and how each engine writes them."""
