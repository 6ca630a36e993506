"""JSON files asked about."""
