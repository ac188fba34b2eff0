"""The guided tour that `bruit demo` runs."""
