"""Error bounds for answers of a synthetic table: from measured counts, an audit and rehearsals."""
