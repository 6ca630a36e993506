"""The clipboard."""
