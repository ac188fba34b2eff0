"""The noise of streams: its buffers, its deviations, the threshold of found keys and the attack that audits use."""
