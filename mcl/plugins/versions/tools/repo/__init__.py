"""Tools that look at a whole repository."""
