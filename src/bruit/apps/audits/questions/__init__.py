"""The audits of questions: as SQL, and with every limit, noise and source."""
