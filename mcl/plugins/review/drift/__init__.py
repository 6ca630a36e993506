"""Drift: what a repository says of itself and is not so any more. The rules are data (rules.toml)."""
