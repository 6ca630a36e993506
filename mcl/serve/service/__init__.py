"""What one server process does for all its clients."""
