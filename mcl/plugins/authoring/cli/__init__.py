"""What authors of skills ask for on a terminal."""
