"""Calls in folders for which a person signed work: whose they are, what they may change, what they left."""
