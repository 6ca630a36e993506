"""How one terminal node is performed: a file a kind."""
