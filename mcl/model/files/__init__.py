"""Model files that may be opened."""
