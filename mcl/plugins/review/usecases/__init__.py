"""A review of code as a person asks for it: one verb a file."""
