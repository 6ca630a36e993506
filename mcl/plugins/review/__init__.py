"""Reviews of code: what is looked at, what is found, and what is remembered of it."""
