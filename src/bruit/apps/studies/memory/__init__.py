"""The study of the memory that a private training step needs."""
