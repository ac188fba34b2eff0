"""Every number that the source documents print, computed again."""
