"""The catalogue of audits: every mechanism as a black box, under every neighbouring relation it supports."""
