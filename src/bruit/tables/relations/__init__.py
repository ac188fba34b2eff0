"""Relational operations and the engines that run them."""
