"""Short block codes: parity, repetition, Hamming and BCH."""
