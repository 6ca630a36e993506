"""Text files, line by line, and sums."""
