"""Polar codes: channels that polarise, and list decoding."""
