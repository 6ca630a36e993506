"""Code searched for what is known to be dangerous, with no model: Python by bandit, the rest by patterns."""
