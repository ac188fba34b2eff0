"""Polar codes: channel polarisation, and successive-cancellation list decoding."""
