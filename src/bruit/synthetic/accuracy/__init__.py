"""How far answers of a synthetic table may be off: from measured counts, from an audit, from rehearsals."""
