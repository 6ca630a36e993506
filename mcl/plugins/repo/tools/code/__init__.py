"""Source text."""
