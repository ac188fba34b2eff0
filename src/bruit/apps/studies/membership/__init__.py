"""The study of membership inference: whether an attacker can tell that a record was used in training."""
