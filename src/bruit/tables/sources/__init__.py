"""Files, frames, engines and databases, opened under a schema without reading a row."""
