"""The study of membership inference: who can tell that a record was used."""
