"""Tasks for others."""
