"""Whether a host's tool call may be made, and what it left: decided by the signed work, told to the host."""
