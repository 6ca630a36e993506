"""What a person does in repositories by the closed contract: one verb a file."""
