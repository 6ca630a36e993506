"""The one gate: what it judges, what it looks at, how it decides."""
