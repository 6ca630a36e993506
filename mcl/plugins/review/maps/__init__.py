"""Maps of a repository: what its files are, what they offer, and who owns them."""
