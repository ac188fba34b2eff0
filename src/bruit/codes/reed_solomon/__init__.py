"""Reed–Solomon codes over the fields of 2^m elements, with errors and erasures."""
