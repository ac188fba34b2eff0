"""Reed–Solomon codes over GF(2^m), decoding errors and erasures."""
