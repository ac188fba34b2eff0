"""Mechanisms: a public question, an exact reading of the data and a noisy channel, priced and paid together."""

from bruit.mechanisms.buying import all_of, buy_choice, buy_integers, buy_vectors, part_of
from bruit.mechanisms.mechanism import Mechanism, send_array
from bruit.mechanisms.subject import asked, table_of, the_table

__all__ = [
    "Mechanism",
    "all_of",
    "asked",
    "buy_choice",
    "buy_integers",
    "buy_vectors",
    "part_of",
    "send_array",
    "table_of",
    "the_table",
]
