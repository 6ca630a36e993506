"""Which tools there are, and which of them fit a question."""
