"""The study of private nearest neighbours."""
