"""The noise of streams: its buffers, its deviations, the threshold for found keys, and the attack for audits."""
