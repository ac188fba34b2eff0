"""The study of the joint quantiles: their exact law on many tables, and the largest loss between neighbours."""
