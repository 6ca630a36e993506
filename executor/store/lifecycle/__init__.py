"""The life of an intent, derived from its envelopes."""
