"""What is kept of an agent's reads and writes between calls: versions seen, refusals, files as they were."""
