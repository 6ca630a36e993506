"""Calls that a person must allow: asked about, decided by whoever is first, and made once."""
