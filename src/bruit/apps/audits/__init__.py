"""The list of audits: every mechanism measured from outside, under every relation it serves."""
