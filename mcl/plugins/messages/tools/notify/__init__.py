"""Short notices over the network."""
