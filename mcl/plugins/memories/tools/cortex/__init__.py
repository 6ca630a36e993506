"""Tools that look into memory, and add to it."""
