"""Everything is a noisy channel: private surveys, statistics and models, and codes that fight the noise."""

